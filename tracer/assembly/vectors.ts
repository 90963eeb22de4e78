// Four numbers at once, one for each lane. Every operation gives the same bits on every processor: IEEE single precision without fused
// multiply-add, and selections by masks whose lanes are all ones or all zeros.

export function add(a: v128, b: v128): v128 {
  return f32x4.add(a, b)
}

export function subtract(a: v128, b: v128): v128 {
  return f32x4.sub(a, b)
}

export function multiply(a: v128, b: v128): v128 {
  return f32x4.mul(a, b)
}

export function divide(a: v128, b: v128): v128 {
  return f32x4.div(a, b)
}

export function all(value: f32): v128 {
  return f32x4.splat(value)
}

export function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return add(add(multiply(ax, bx), multiply(ay, by)), multiply(az, bz))
}

/** `yes` in the lanes of the mask, `no` in the others. */
export function choose(mask: v128, yes: v128, no: v128): v128 {
  return i32x4.relaxed_laneselect(yes, no, mask)
}

/** The values in the lanes of the mask, 0 in the others. */
export function where(mask: v128, values: v128): v128 {
  return v128.and(values, mask)
}

/** The mask without the lanes of another one. */
export function except(mask: v128, other: v128): v128 {
  return v128.andnot(mask, other)
}
