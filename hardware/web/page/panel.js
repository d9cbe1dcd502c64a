// The session's state in a headset, where the page itself is not seen: a panel at the lower edge of the view.

const AT = [0, -0.34, -1.0]; // [m] its centre before the head
const SIZE = [0.8, 0.16]; // [m]
const PIXELS = [800, 160];
const COLOURS = { off: "#5c6773", ready: "#1f5fd0", moving: "#6a3fb0", driving: "#1b7a36", paused: "#8a5a00", stopped: "#b3261e" };
const VERTEX = `
attribute vec2 corner;
uniform mat4 projection;
uniform mat4 fromHead;
uniform vec3 at;
uniform vec2 size;
varying vec2 place;
void main() {
  vec3 point = at + vec3(size * (corner - 0.5), 0.0);
  gl_Position = projection * fromHead * vec4(point, 1.0);
  place = vec2(corner.x, 1.0 - corner.y);
}`;
const FRAGMENT = `
precision mediump float;
uniform sampler2D text;
varying vec2 place;
void main() {
  gl_FragColor = texture2D(text, place);
}`;

export class Panel {
  // read(): what stands on the panel: {state, kind, advice, facts}
  constructor(read) {
    this.read = read;
    this.canvas = document.createElement("canvas");
    [this.canvas.width, this.canvas.height] = PIXELS;
    this.painted = "";
  }

  draw(gl, layer, viewer) {
    if (!viewer) return;
    if (this.gl !== gl) this.begin(gl);
    gl.useProgram(this.program);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    this.paint(this.read());
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.enableVertexAttribArray(this.at.corner);
    gl.vertexAttribPointer(this.at.corner, 2, gl.FLOAT, false, 0, 0);
    gl.uniform3fv(this.at.at, AT);
    gl.uniform2fv(this.at.size, SIZE);
    for (const view of viewer.views) {
      const { x, y, width, height } = layer.getViewport(view);
      const fromHead = multiply(view.transform.inverse.matrix, viewer.transform.matrix);
      gl.viewport(x, y, width, height);
      gl.uniformMatrix4fv(this.at.projection, false, view.projectionMatrix);
      gl.uniformMatrix4fv(this.at.fromHead, false, fromHead);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  paint(said) {
    const text = JSON.stringify(said);
    if (text === this.painted) return;
    this.painted = text;
    const { gl } = this, context = this.canvas.getContext("2d"), [width, height] = PIXELS;
    context.fillStyle = COLOURS[said.kind] ?? COLOURS.off;
    context.fillRect(0, 0, width, height);
    context.fillStyle = "white";
    context.font = "bold 52px sans-serif";
    context.fillText(said.state.toUpperCase(), 20, 62);
    context.font = "28px sans-serif";
    context.textAlign = "right";
    context.fillText(said.facts, width - 20, 56, 420);
    context.textAlign = "left";
    context.fillText(said.advice, 20, 126, width - 40);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, this.canvas);
  }

  begin(gl) {
    this.gl = gl;
    this.painted = "";
    this.program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    this.at = { corner: gl.getAttribLocation(this.program, "corner") };
    for (const name of ["projection", "fromHead", "at", "size"]) {
      this.at[name] = gl.getUniformLocation(this.program, name);
    }
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  }
}

// The product of two matrices in columns, as WebGL has them.
function multiply(a, b) {
  return Float32Array.from({ length: 16 }, (_, i) => {
    const row = i % 4, column = i - row;
    return [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + row] * b[column + k], 0);
  });
}
