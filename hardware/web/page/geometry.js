// Rotations as [x, y, z, w], in the axes of WebXR: x right, y up, −z forward.

export const IDENTITY = [0, 0, 0, 1];

export function multiply(a, b) {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

export function turnAbout(axis, angle) {
  const s = Math.sin(angle / 2);
  return [axis[0] * s, axis[1] * s, axis[2] * s, Math.cos(angle / 2)];
}

export function rotate(q, v) {
  const [x, y, z] = multiply(multiply(q, [...v, 0]), [-q[0], -q[1], -q[2], q[3]]);
  return [x, y, z];
}

// The rotation at a share of the way from a to b, which are near each other.
export function makeBetween(a, b, share) {
  const sign = a.reduce((sum, part, i) => sum + part * b[i], 0) < 0 ? -1 : 1;
  const mixed = a.map((part, i) => (1 - share) * part + share * sign * b[i]);
  const length = Math.hypot(...mixed);
  return mixed.map((part) => part / length);
}

// The heading of whoever looks along −z: how far it is turned left about the vertical.
// A phone that looks at the floor or the ceiling points with its upper edge.
export function findHeading(q) {
  const [x, y, z] = rotate(q, [0, 0, -1]);
  if (Math.hypot(x, z) > 0.5) return Math.atan2(-x, -z);
  const [ux, , uz] = rotate(q, [0, y > 0 ? -1 : 1, 0]);
  return Math.atan2(-ux, -uz);
}

export function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}

// What is passed on of an XRPose; one that is there and not tracked is a guess.
export function readPose(pose) {
  if (!pose) return { tracked: false };
  const { position: p, orientation: q } = pose.transform;
  return { p: [p.x, p.y, p.z], q: [q.x, q.y, q.z, q.w], tracked: !pose.emulatedPosition };
}
