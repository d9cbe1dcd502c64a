// The robot's camera in the headset: turned with every frame of the display to where the head looks by now.
//
// A pixel is a direction, so only the head's orientation counts: on the display that is the homography K R K⁻¹ of a
// pure rotation. The camera's own way here makes a picture late, but not swim.

import { IDENTITY, makeBetween, multiply, rotate } from "./geometry.js";

const HERE = 300; // [ms] who is silent for a second loses the place
const AGAIN = 1000; // [ms]
const STILL = 1000; // [ms] a picture that stands is no view of what is
const DIMMED = 0.35;
const KEPT = 2000; // [ms] of the head's motion; an older picture is shown where the head was then
const OPENING = Math.PI / 3; // [rad] of a picture from side to side, where the camera was not calibrated
const CORNERS = [0, 0, 1, 0, 0, 1, 1, 1];
const VERTEX = `
attribute vec2 corner;
uniform mat4 projection;
uniform mat3 turn;
uniform vec4 lens;
uniform vec2 size;
varying vec2 place;
void main() {
  vec2 pixel = corner * size - 0.5; // centres have whole numbers
  vec2 ray = (pixel - lens.zw) / lens.xy;
  vec4 seen = projection * vec4(turn * vec3(ray.x, -ray.y, -1.0), 0.0);
  gl_Position = vec4(seen.xy, 0.0, seen.w);
  place = corner;
}`;
const FRAGMENT = `
precision mediump float;
uniform sampler2D picture;
uniform float light;
varying vec2 place;
void main() {
  gl_FragColor = vec4(light * texture2D(picture, place).rgb, 1.0);
}`;

export class Picture {
  // onLate(text): how late the newest picture is
  constructor(token, onLate) {
    this.token = token;
    this.onLate = onLate;
    this.heads = []; // {t, q}, the last of them the newest
    this.canvas = document.createElement("canvas");
    this.shown = null;
    this.text = null; // as it was painted
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/picture`, ["paprle", this.token]);
    socket.binaryType = "arraybuffer";
    let timer = 0;
    socket.onopen = () => {
      socket.send("next");
      timer = setInterval(() => socket.send("here"), HERE);
    };
    socket.onmessage = async (event) => {
      await this.take(event.data).catch(() => {}); // what is no JPEG is none
      if (socket.readyState === WebSocket.OPEN) socket.send("next");
    };
    socket.onclose = () => {
      clearInterval(timer);
      setTimeout(() => this.connect(), AGAIN);
    };
  }

  // Message: when [ms, this page's clock], whether the camera turns; width, height, fx, fy, cx, cy; a JPEG.
  async take(data) {
    const head = new DataView(data);
    const t = head.getFloat64(0, true), turns = head.getUint8(8) !== 0;
    const size = [head.getUint16(9, true), head.getUint16(11, true)];
    const lens = [0, 1, 2, 3].map((at) => head.getFloat32(13 + 4 * at, true));
    const image = await createImageBitmap(new Blob([data.slice(29)], { type: "image/jpeg" }));
    if (turns && Number.isNaN(t)) return; // nobody knows yet where the head was
    const known = lens.every(Number.isFinite) ? lens : guessLens(size);
    this.shown = { t, came: performance.now(), size, lens: known, image, anchor: turns ? this.findHead(t) : IDENTITY };
    this.text = null; // as it was painted
  }

  // From here on the head's orientations are told in another space.
  forget() {
    this.heads = [];
  }

  note(t, viewer) {
    if (!viewer) return;
    const { x, y, z, w } = viewer.transform.orientation;
    this.heads.push({ t, q: [x, y, z, w] });
    while (this.heads[0].t < t - KEPT) this.heads.shift();
  }

  findHead(t) {
    const after = this.heads.findIndex((head) => head.t >= t);
    if (after < 0) return this.heads.at(-1)?.q ?? IDENTITY;
    if (after === 0) return this.heads[0].q;
    const [a, b] = [this.heads[after - 1], this.heads[after]];
    return makeBetween(a.q, b.q, (t - a.t) / (b.t - a.t));
  }

  draw(gl, layer, viewer) {
    if (!this.shown || !viewer) return;
    if (this.gl !== gl) this.begin(gl);
    const { t, came, size, lens, anchor } = this.shown;
    const stands = performance.now() - came;
    const late = Number.isNaN(t) ? "" : `${Math.max(0, Math.round(came - t))} ms late`;
    this.paint(stands > STILL ? `stands still for ${Math.floor(stands / 1000)} s` : late);
    gl.useProgram(this.program);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.enableVertexAttribArray(this.at.corner);
    gl.vertexAttribPointer(this.at.corner, 2, gl.FLOAT, false, 0, 0);
    gl.uniform4fv(this.at.lens, lens);
    gl.uniform2fv(this.at.size, size);
    gl.uniform1f(this.at.light, stands > STILL ? DIMMED : 1);
    for (const view of viewer.views) {
      const { x, y, width, height } = layer.getViewport(view);
      const eye = view.transform.orientation;
      const turn = multiply([-eye.x, -eye.y, -eye.z, eye.w], anchor);
      gl.viewport(x, y, width, height);
      gl.uniformMatrix4fv(this.at.projection, false, view.projectionMatrix);
      gl.uniformMatrix3fv(this.at.turn, false, [[1, 0, 0], [0, 1, 0], [0, 0, 1]].flatMap((axis) => rotate(turn, axis)));
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  // The operator has to see how late it is: it is written into the picture.
  paint(text) {
    if (text === this.text) return;
    this.text = text;
    this.onLate(text);
    const { image, size: [width, height] } = this.shown, { gl } = this;
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    context.font = `${Math.max(8, Math.round(height / 24))}px sans-serif`;
    context.textAlign = "center";
    context.lineWidth = 3;
    context.strokeText(text, width / 2, 0.98 * height);
    context.fillStyle = "white";
    context.fillText(text, width / 2, 0.98 * height);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, this.canvas);
  }

  begin(gl) {
    this.gl = gl;
    this.text = null; // as it was painted
    this.program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    this.at = { corner: gl.getAttribLocation(this.program, "corner") };
    for (const name of ["projection", "turn", "lens", "size", "light"]) {
      this.at[name] = gl.getUniformLocation(this.program, name);
    }
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(CORNERS), gl.STATIC_DRAW);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR); // no mipmaps, of any size
  }
}

function guessLens([width, height]) {
  const f = width / 2 / Math.tan(OPENING / 2);
  return [f, f, (width - 1) / 2, (height - 1) / 2];
}
