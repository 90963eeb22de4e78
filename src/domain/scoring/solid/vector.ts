/** A point or a direction: x across the stone, y along it, z from the culet up to the table. Unit: the stone's width. */
export type Vector = readonly [x: number, y: number, z: number]

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const subtract = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
export const scale = (a: Vector, by: number): Vector => [a[0] * by, a[1] * by, a[2] * by]
export const length = (a: Vector): number => Math.sqrt(dot(a, a))
export const unit = (a: Vector): Vector => scale(a, 1 / length(a))

export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

export const radians = (degrees: number): number => (degrees * Math.PI) / 180
