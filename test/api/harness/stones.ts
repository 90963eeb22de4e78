import * as assert from 'uvu/assert'
import { until } from '../../until.ts'
import type { Vendor } from './account.ts'
import { expect, type ApiResponse } from './request.ts'

/** A diamond in a response of either version. */
export type Shown = Readonly<Record<string, unknown>> & { readonly id: number; readonly sku: string }

/** The required fields of a diamond with default values. */
export const stone = (fields: Readonly<Record<string, unknown>> = {}) => ({
  sku: 'SKU-1',
  cutShape: 'Round',
  carat: 0.73,
  ...fields,
})

export const stoneV3 = (fields: Readonly<Record<string, unknown>> = {}) => stone({ cutShape: 2, ...fields })

export const shown = (response: ApiResponse): Shown => response.json() as Shown

/** Removes the signatures of links: a link that expires has another signature every five minutes. */
const withoutSignatures = (text: string): string => text.replaceAll(/\?signature=[\w-]+/g, '')

/** The body of a response without the signatures of its links. */
export const unsigned = (response: ApiResponse): unknown => JSON.parse(withoutSignatures(response.text)) as unknown

export const list = (response: ApiResponse): Shown[] => (response.status === 204 ? [] : (response.json() as Shown[]))

/** Gets a list once it contains all previous writes: slow read models may lag or be unavailable for a while. */
export async function current(vendor: Vendor, path: string): Promise<ApiResponse> {
  let response = await vendor.get(path)
  const isCurrent = () => response.status !== 503 && response.headers['x-consistency'] !== 'pending'
  await until(`${path} with everything`, async () => {
    if (!isCurrent()) response = await vendor.get(path)
    return isCurrent()
  })
  return response
}

/** Creates a diamond and returns it. */
export const created = async (vendor: Vendor, fields: Readonly<Record<string, unknown>> = {}): Promise<Shown> =>
  shown(expect(201, await vendor.post('/v4/diamond', stone(fields))))

/** Creates `count` diamonds in one bulk, with the skus `{prefix}-0`, `{prefix}-1` and so on. */
export async function createdMany(vendor: Vendor, count: number, prefix = 'MANY'): Promise<Shown[]> {
  const entries = Array.from({ length: count }, (_, number) => stone({ sku: `${prefix}-${number}` }))
  return list(expect(201, await vendor.post('/v4/diamond/bulk', { entries })))
}

/** All diamonds of a vendor as v3 and v4 list them, with totals. */
export async function listsOf(vendor: Vendor): Promise<unknown> {
  const responses = await Promise.all(['v3', 'v4'].map((version) => vendor.get(`/${version}/diamond?limit=1000`)))
  return responses.map(({ status, text, headers }) => ({
    status,
    text: withoutSignatures(text),
    total: headers['x-total-count'],
  }))
}

/** Expects that an action changes no diamond of these vendors. */
export async function expectNoChange(vendors: readonly Vendor[], action: () => Promise<unknown>): Promise<void> {
  const before = await Promise.all(vendors.map(listsOf))
  await action()
  assert.equal(await Promise.all(vendors.map(listsOf)), before)
}

/** The link to the owner's page in the response of a stone's history. */
export async function ownersLink(vendor: Vendor, id: number): Promise<URL> {
  const { headers } = expect(200, await vendor.get(`/v4/diamond/${id}/history?limit=1`))
  const found = /<([^<>]+)>; rel="alternate"; type="text\/html"/.exec(String(headers.link))
  return new URL(found?.[1] ?? '')
}
