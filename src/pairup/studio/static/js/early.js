// Sets the theme before anything is drawn, so that a dark page does not flash white; then follows the system.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const chosen = localStorage.getItem("pairup-theme");
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  follow();
  system.addEventListener("change", () => { follow(); document.dispatchEvent(new CustomEvent("theme")); });
})();
