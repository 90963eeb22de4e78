import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import type { Cut, Grade, ModelledShape } from '../../../src/optics/cut/cut.ts'
import { widthOf } from '../../../src/optics/light/diamond-material.ts'
import { meshOf, toMeshFile, type FileEncoding } from '../../optics/mesh/mesh-file.ts'
import { file, formBody, formHeaders, type Part } from './form.ts'
import type { Vendor } from './account.ts'
import type { ApiResponse, Request } from './request.ts'

/** The 3D file of a cut of that weight. */
export function modelFile(shape: ModelledShape, grade: Grade, carat: number, writing: FileEncoding = 'OFF'): Buffer {
  const cut: Cut = { shape, grade, polish: grade, symmetry: grade }
  const { solid } = solidOfCut(cut)
  return Buffer.from(toMeshFile(meshOf(solid, widthOf(carat, solid.volume)), writing, 5))
}

/** Sends a form to the model endpoint of a diamond. */
export const sendModel = (vendor: Vendor, id: number, parts: readonly Part[]): Promise<ApiResponse> =>
  vendor.send(formRequest(id, parts))

const formRequest = (id: number, parts: readonly Part[]): Request => ({
  method: 'POST',
  path: `/v4/diamond/${id}/model`,
  headers: formHeaders,
  body: formBody(parts),
})

/** The request that attaches a 3D file to a diamond. */
export const modelRequest = (id: number, model: Buffer | string): Request =>
  formRequest(id, [file(model, 'stone.bin', 'application/octet-stream')])

export const attachModel = (vendor: Vendor, id: number, model: Buffer | string): Promise<ApiResponse> =>
  vendor.send(modelRequest(id, model))

/** A model in a response. */
export type ShownModel = {
  readonly format: string
  readonly facets: number
  readonly carat: number
  readonly measurements: { readonly length: number; readonly width: number; readonly depth: number }
  readonly warnings: readonly string[]
  readonly file?: string
}

export const model = (response: ApiResponse): ShownModel => response.json() as ShownModel
