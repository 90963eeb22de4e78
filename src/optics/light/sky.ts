/**
 * The sky around the eye, with the zones of the Angular Spectrum Evaluation Tool: the viewer's head blocks 15 degrees, the next 30 are
 * bright, and the rest is half as bright. Angles in degrees.
 */
export const sky = { headAngle: 15, brightAngle: 45, sideBrightness: 0.5 } as const

/** Width in degrees of the rings by which light is counted, and their number. */
export const RING = 5
export const RINGS = 90 / RING

/**
 * Degrees between F and C light that an eye blurs. All visible light spreads 2.1 times as far, and must spread over a pupil of 3 mm at
 * 40 cm (0.43°) and the lamp (0.1°).
 */
export const BLUR_DEGREES = 0.25
