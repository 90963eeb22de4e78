export type V = readonly [x: number, y: number, z: number]

export const plus = (a: V, b: V): V => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const minus = (a: V, b: V): V => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
export const times = (a: V, by: number): V => [a[0] * by, a[1] * by, a[2] * by]
export const dot = (a: V, b: V): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const cross = (a: V, b: V): V => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
export const unit = (a: V): V => times(a, 1 / Math.hypot(...a))
