// The 3-D picture: viser's own page on our port, light or dark as the page is.

const dark = matchMedia("(prefers-color-scheme: dark)");

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

// Whether the processor draws: shadows would take more than half of its time.
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl?.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER) ?? "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

export function makePicture(socket) {
  const frame = document.createElement("iframe");
  frame.title = "the robot in 3-D";
  const software = isSoftware() ? "&software" : "";
  const open = () => {
    const address = encodeURIComponent(socket + software);
    frame.src = `scene.html?websocket=${address}${dark.matches ? "&darkMode" : ""}`;
  };
  open();
  dark.addEventListener("change", () => { if (frame.isConnected) open(); });
  return frame;
}
