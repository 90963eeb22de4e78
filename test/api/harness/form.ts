import { randomBytes } from 'node:crypto'
import type { Vendor } from './account.ts'
import { expect, type ApiResponse } from './request.ts'

/** One part of a multipart form, as it goes over the wire. */
export type Part = {
  readonly name: string
  readonly content: string | Buffer
  /** Written to the header unescaped. */
  readonly filename?: string
  readonly type?: string
}

const BOUNDARY = '----AdamantTestBoundary7MA4YWxkTrZu0gW'

export const formHeaders = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }

/** A part's header, with the boundary before it. */
export function partHead({ name, filename, type }: Omit<Part, 'content'>): Buffer {
  const file = filename === undefined ? '' : `; filename="${filename}"`
  const contentType = type === undefined ? '' : `\r\nContent-Type: ${type}`
  return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}${contentType}\r\n\r\n`)
}

export const formEnd = Buffer.from(`--${BOUNDARY}--\r\n`)

export function formBody(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap((part) => [partHead(part), Buffer.from(part.content), Buffer.from('\r\n')])
  return Buffer.concat([...pieces, formEnd])
}

export const text = (name: string, content: string | number): Part => ({ name, content: String(content) })
export const file = (content: string | Buffer, filename = 'report.pdf', type = 'application/pdf'): Part => ({
  name: 'file',
  content,
  filename,
  type,
})

/** A certification in a response. */
export type ShownCertification = {
  readonly id: number
  readonly laboratory: string
  readonly number: string | null
  readonly url: string | null
  readonly file: string | null
}

export const upload = (vendor: Vendor, parts: readonly Part[], path = '/v4/certification'): Promise<ApiResponse> =>
  vendor.send({ method: 'POST', path, headers: formHeaders, body: formBody(parts) })

export const certification = (response: ApiResponse): ShownCertification => response.json() as ShownCertification

/** Attaches a certification with this PDF. */
export const attached = async (vendor: Vendor, product: number, pdf = smallPdf(), number = '33188') =>
  certification(
    expect(
      201,
      await upload(vendor, [
        text('product', product),
        text('laboratory', 'GIA'),
        text('number', number),
        file(pdf, `${number}.pdf`),
      ]),
    ),
  )

/** A unique file that is accepted as a PDF. @param bytes its exact size */
export function smallPdf(bytes = 600): Buffer {
  const start = Buffer.from('%PDF-1.7\n%')
  const end = Buffer.from('\nstartxref\n0\n%%EOF\n')
  const padding = Buffer.from(randomBytes(Math.ceil((bytes - start.length - end.length) / 2)).toString('hex'))
  return Buffer.concat([start, padding.subarray(0, bytes - start.length - end.length), end])
}

/** The path and query of a link. */
export const pathOf = (link: string | null): string => {
  const { pathname, search } = new URL(link ?? '')
  return pathname + search
}
