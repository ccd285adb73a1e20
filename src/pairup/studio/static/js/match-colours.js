// How sure a pair is, as a colour: from the colour of Y for what is unlikely to the colour of X for what is sure.

const LOW = 0.35, HIGH = 0.95; // below and above, all are alike: what matters lies between

/** How far along the colours a probability lies, from 0 to 1. */
export function weigh(share) {
  return Math.min(1, Math.max(0, (share - LOW) / (HIGH - LOW)));
}

/** The colour in CSS, which follows the theme by itself. */
export function mix(share) {
  return `color-mix(in oklab, var(--y), var(--x) ${Math.round(100 * weigh(share))}%)`;
}
