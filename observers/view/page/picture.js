// The 3-D picture: viser's own page on our port, light or dark as the page is.

const dark = matchMedia("(prefers-color-scheme: dark)");

export function makePicture(socket) {
  const frame = document.createElement("iframe");
  frame.title = "the robot in 3-D";
  const open = () => {
    frame.src = `scene.html?websocket=${encodeURIComponent(socket)}${dark.matches ? "&darkMode" : ""}`;
  };
  open();
  dark.addEventListener("change", () => { if (frame.isConnected) open(); });
  return frame;
}
