// WAV files, written in the browser: 16 bits, one channel, which every sound program reads.

const HEADER = 44; // bytes before the samples

/** Write samples between −1 and 1 as a WAV file. */
export function encodeWav(blocks, rate) {
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  const view = new DataView(new ArrayBuffer(HEADER + 2 * length));
  const word = (place, text) => [...text].forEach((letter, i) => view.setUint8(place + i, letter.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, HEADER - 8 + 2 * length, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true); // bytes of the format that follows
  view.setUint16(20, 1, true); // plain samples
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true); // bytes per second
  view.setUint16(32, 2, true); // bytes per sample of all channels
  view.setUint16(34, 16, true); // bits
  word(36, "data");
  view.setUint32(40, 2 * length, true);
  let place = HEADER;
  for (const block of blocks) {
    for (const sample of block) {
      view.setInt16(place, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true);
      place += 2;
    }
  }
  return new Blob([view.buffer], { type: "audio/wav" });
}

/** The mean of all channels of a decoded sound. */
function mix(sound) {
  const mixed = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel++) {
    sound.getChannelData(channel).forEach((sample, i) => { mixed[i] += sample / sound.numberOfChannels; });
  }
  return mixed;
}

const FOREIGN = /\.(m4a|m4b|mp4|aac|webm|weba|3gp)$/i;

/** What phones record (m4a, webm …) is decoded here and sent as WAV; all else, and what fails, as it is. */
export async function toReadable(file) {
  if (!FOREIGN.test(file.name) || !window.AudioContext) return file;
  const context = new AudioContext();
  try {
    const sound = await context.decodeAudioData(await file.arrayBuffer());
    return new File([encodeWav([mix(sound)], sound.sampleRate)], `${file.name}.wav`, { type: "audio/wav" });
  } catch {
    return file;
  } finally {
    context.close();
  }
}
