import type { SymmetryFold } from '../mesh/symmetry.ts'
import type { StoneModelProperties } from '../stone-model-tracing.ts'
import type { Cut } from '../cut/cut.ts'
import type { PictureKind } from '../picture/picture.ts'
import type { TracedCut } from '../cut/trace-cut.ts'

type PictureSubject = { readonly cut: Cut } | { readonly model: Uint8Array<ArrayBuffer> }

export type PictureRequest = { readonly subject: PictureSubject; readonly kind: PictureKind }

export type TraceTask =
  | { readonly kind: 'trace'; readonly cut: Cut | 'reference' }
  | { readonly kind: 'trace-model'; readonly bytes: Uint8Array<ArrayBuffer>; readonly fold: SymmetryFold | undefined }
  | { readonly kind: 'inspect'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'draw'; readonly request: PictureRequest }

/** A thread's result: figures, a PNG file, or an error. `impossible`: no stone has these proportions. */
export type TraceTaskResult =
  | { readonly kind: 'traced'; readonly traced: TracedCut }
  | { readonly kind: 'inspected'; readonly shape: StoneModelProperties }
  | { readonly kind: 'no-stone'; readonly message: string }
  | { readonly kind: 'drawn'; readonly png: Uint8Array }
  | { readonly kind: 'impossible'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
