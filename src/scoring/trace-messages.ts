import type { SymmetryFold } from '../domain/scoring/mesh/symmetry.ts'
import type { StoneModelProperties } from '../domain/diamond/stone-model.ts'
import type { Cut } from '../domain/scoring/cut/cut.ts'
import type { PictureKind } from '../domain/scoring/picture/picture.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'

/** What a picture is of: a cut, or a stone's own body as the bytes of its 3D file. */
export type PictureSubject = { readonly cut: Cut } | { readonly model: Uint8Array<ArrayBuffer> }

export type PictureRequest = { readonly subject: PictureSubject; readonly kind: PictureKind }

/** What a tracing thread does. */
export type TraceTask =
  | { readonly kind: 'trace'; readonly cut: Cut | 'reference' }
  | { readonly kind: 'trace-model'; readonly bytes: Uint8Array<ArrayBuffer>; readonly fold: SymmetryFold | undefined }
  | { readonly kind: 'inspect'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'draw'; readonly order: PictureRequest }

/** What it answers: a cut's figures, a PNG file, or why the proportions are impossible, or what else went wrong. */
export type TraceTaskResult =
  | { readonly kind: 'traced'; readonly traced: TracedCut }
  | { readonly kind: 'inspected'; readonly shape: StoneModelProperties }
  | { readonly kind: 'no-stone'; readonly message: string }
  | { readonly kind: 'drawn'; readonly png: Uint8Array }
  | { readonly kind: 'impossible'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
