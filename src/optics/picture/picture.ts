import { toPlaneSet, type PlaneSet } from '../light/planes.ts'
import type { Solid } from '../solid/solid.ts'
import { RayBundles, type TraceLimits } from './ray-bundles.ts'
import { visibleFacetsOf, framesOf, rayPositionsOf, type VisibleFacet, type Frame } from './frame.ts'
import { lightings, PixelPainter, type Canvas, type Lighting, type PaintPass } from './painting.ts'

/** Rows from top to bottom, four bytes per pixel: red, green, blue, alpha. Transparent outside the stone. */
export type RgbaImage = { readonly width: number; readonly height: number; readonly pixels: Uint8ClampedArray }

/**
 * How far rays are followed, and from when on red and blue use green's path. The eye perceives fine detail by brightness, which is mostly
 * green; the smaller pictures of a rocked stone show less of it.
 */
const FINE = { cutOff: 0.02, maxHits: 48, tail: 0.2 } as const
const SMALL = { cutOff: 0.04, maxHits: 20, tail: 0.3 } as const
/** Tilts of a rocked stone in degrees, away from the viewer. */
const ROCKED = [-15, -7.5, 0, 7.5, 15]

export type PictureKind = 'face-up' | 'aset' | 'rocked'

/** A picture for report pages: 480 pixels long, twice its size on the page; for `rocked` five of 200 pixels side by side. */
export function drawPicture(solid: Solid, kind: PictureKind): RgbaImage {
  return kind === 'rocked' ? drawRocked(solid, 'face-up', 200) : drawStone(solid, kind, 480)
}

/**
 * The stone face up, its length vertical, seen by a distant eye under a lighting. Deterministic.
 * @param size the longer side in pixels, at most 4,096
 */
export const drawStone = (solid: Solid, lighting: Lighting, size: number): RgbaImage =>
  drawFrames(solid, lighting, size, [0], FINE)

/** Five pictures side by side of the stone tilted from -15° to 15° under a fixed lighting. @param size the longer side of each in pixels */
export const drawRocked = (solid: Solid, lighting: Lighting, size: number): RgbaImage =>
  drawFrames(solid, lighting, size, ROCKED, SMALL)

type RenderQuality = TraceLimits & { readonly tail: number }

function drawFrames(
  solid: Solid,
  lighting: Lighting,
  size: number,
  tilts: readonly number[],
  quality: RenderQuality,
): RgbaImage {
  const planes = toPlaneSet(solid)
  const frames = framesOf(solid, planes, size, tilts)
  const width = frames.reduce((sum, frame) => sum + frame.width, 0)
  const height = Math.max(...frames.map((frame) => frame.height))
  const pixels = new Uint8ClampedArray(4 * width * height)
  for (const [index, frame] of frames.entries()) {
    const canvas = { pixels, width, firstColumn: index * frame.width }
    drawFrame({ frame, canvas, planes, entrances: visibleFacetsOf(solid, planes, frame) }, lighting, quality)
    if (solid.halves === 2) mirror(canvas, frame)
  }
  return { width, height, pixels }
}

type FrameDrawing = {
  readonly frame: Frame
  readonly canvas: Canvas
  readonly planes: PlaneSet
  readonly entrances: readonly VisibleFacet[]
}

/** One ray through the centre of each pixel is enough, since pictures are shown smaller than they are drawn. */
function drawFrame(
  { frame, canvas, planes, entrances }: FrameDrawing,
  lighting: Lighting,
  quality: RenderQuality,
): void {
  const { cutOff, maxHits, tail } = quality
  const tails = { threshold: tail, tailLight: new Float64Array(canvas.pixels.length / 2) }
  const eyeRays = { positions: rayPositionsOf(frame), eye: frame.view.eye }
  const draw = (pass: PaintPass, passCutOff: number) => {
    const painter = new PixelPainter(canvas, frame.view, pass, tails)
    const companionIndices = pass.companions.map(({ index }) => index)
    const bundles = new RayBundles(
      planes,
      { index: pass.main.index, cutOff: passCutOff, maxHits, companionIndices },
      painter,
      eyeRays,
    )
    for (const entrance of entrances) bundles.follow(entrance)
  }
  const [main, one, other] = lightings[lighting]
  draw({ main, companions: [one, other].filter((ray) => ray !== undefined), companionIndex: undefined }, cutOff)
  if (one !== undefined) draw({ main: one, companions: [], companionIndex: 0 }, tail)
  if (other !== undefined) draw({ main: other, companions: [], companionIndex: 1 }, tail)
}

function mirror({ pixels, width, firstColumn }: Canvas, frame: Frame): void {
  for (let row = 0; row < frame.height; row++) {
    const start = row * width + firstColumn
    for (let column = 0; column < frame.width >> 1; column++) {
      const source = 4 * (start + frame.width - 1 - column)
      pixels.copyWithin(4 * (start + column), source, source + 4)
    }
  }
}
