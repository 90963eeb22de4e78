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

/** The result of `draw` is a PNG file. */
export type TraceResult = TracedCut | StoneModelProperties | Uint8Array

/** `impossible`: no stone has these proportions. `no-stone`: the file is not a 3D model of a stone. */
export type TraceOutcome =
  | { readonly kind: 'done'; readonly result: TraceResult }
  | { readonly kind: 'impossible' | 'no-stone' | 'failed'; readonly message: string }
