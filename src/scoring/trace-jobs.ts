import type { Cut } from '../domain/scoring/cut/cut.ts'
import type { Lighting } from '../domain/scoring/picture/lighting.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'

/** A picture of a cut: `size` is its longer side in pixels. */
export type PictureOrder = { readonly cut: Cut; readonly lighting: Lighting; readonly size: number }

/** What a tracing thread does. */
export type Task =
  { readonly kind: 'trace'; readonly cut: Cut | 'reference' } | { readonly kind: 'draw'; readonly order: PictureOrder }

/** What it answers: a cut's figures, a PNG file, or why the proportions are impossible, or what else went wrong. */
export type Answer =
  | { readonly kind: 'traced'; readonly traced: TracedCut }
  | { readonly kind: 'drawn'; readonly png: Uint8Array }
  | { readonly kind: 'impossible'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
