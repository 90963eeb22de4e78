import { until } from '../../until.ts'
import type { Vendor } from './account.ts'
import { file, formBody, formHeaders, text } from './form.ts'
import { expect, type ApiResponse, type Request } from './request.ts'

type Counts = Readonly<Record<'created' | 'changed' | 'unchanged' | 'deleted' | 'certifications', number>>

/** An import in a response. */
export type ShownImport = {
  readonly id: string
  readonly state: string
  readonly file: { readonly name: string | null; readonly rows: number; readonly sheet: string | null }
  readonly options: Readonly<Record<string, unknown>>
  readonly columns: readonly { readonly name: string; readonly field: string | null }[]
  readonly questions: readonly {
    readonly option: string | null
    readonly column: string | null
    readonly field: string | null
    readonly ask: string
    readonly choices: readonly string[]
  }[]
  readonly errors: readonly { readonly line: number; readonly column: string | null; readonly message: string }[]
  readonly errorCount: number
  readonly unknownValues: readonly { readonly option: string; readonly lines: number }[]
  readonly remarks: readonly string[]
  readonly would: Counts
  readonly first: readonly Readonly<Record<string, unknown>>[]
  readonly counts: Counts | null
  readonly done: number | null
  readonly total: number | null
  readonly undo: string | null
  readonly restored: number | null
  readonly left: number | null
  readonly why: string | null
}

/** A request that uploads a stock list. @param options by name, as a form sends them */
export const uploadRequest = (
  { token }: Vendor,
  content: string | Buffer,
  options: Readonly<Record<string, string>> = {},
  name = 'stones.csv',
): Request => ({
  method: 'POST',
  path: '/v4/import',
  headers: { Authorization: `Bearer ${token}`, ...formHeaders },
  body: formBody([
    ...Object.entries(options).map(([option, value]) => text(option, value)),
    file(content, name, 'application/octet-stream'),
  ]),
})

export const importIn = (response: ApiResponse): ShownImport => response.json() as ShownImport

/** Uploads a stock list that can be read. */
export const uploaded = async (
  vendor: Vendor,
  content: string | Buffer,
  options: Readonly<Record<string, string>> = {},
): Promise<ShownImport> => importIn(expect(201, await vendor.send(uploadRequest(vendor, content, options))))

export const shownImport = async (vendor: Vendor, id: string): Promise<ShownImport> =>
  importIn(expect(200, await vendor.get(`/v4/import/${id}`)))

/** Waits until an import is no longer applied or undone. */
export async function settled(vendor: Vendor, id: string): Promise<ShownImport> {
  let shown = await shownImport(vendor, id)
  await until(`the end of import ${id}`, async () => {
    shown = await shownImport(vendor, id)
    return shown.state !== 'applying' && shown.state !== 'undoing'
  })
  return shown
}

/** Applies an import, and waits for its end. */
export async function applied(vendor: Vendor, id: string): Promise<ShownImport> {
  expect(202, await vendor.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  return settled(vendor, id)
}

/** Undoes an import, and waits for the end. */
export async function undone(vendor: Vendor, id: string, options?: object): Promise<ShownImport> {
  expect(202, await vendor.send({ method: 'POST', path: `/v4/import/${id}/undo`, json: options }))
  return settled(vendor, id)
}
