import * as assert from 'uvu/assert'
import { until } from '../../until.ts'
import type { Vendor } from './account.ts'
import { expect, type Answer } from './request.ts'

/** A diamond as an answer shows it, in either version. */
export type Shown = Readonly<Record<string, unknown>> & { readonly id: number; readonly sku: string }

/** What every diamond has; what a test does not care about has a value anyway. */
export const stone = (fields: Readonly<Record<string, unknown>> = {}) => ({
  sku: 'SKU-1',
  cutShape: 'Round',
  carat: 0.73,
  ...fields,
})

export const stoneV3 = (fields: Readonly<Record<string, unknown>> = {}) => stone({ cutShape: 2, ...fields })

export const shown = (answer: Answer): Shown => answer.json() as Shown

/** A text without the signatures of its links: a link that ends has another signature every five minutes. */
const withoutSignatures = (text: string): string => text.replaceAll(/\?signature=[\w-]+/g, '')

/** An answer's body without the signatures of its links. */
export const unsigned = (answer: Answer): unknown => JSON.parse(withoutSignatures(answer.text)) as unknown

export const list = (answer: Answer): Shown[] => (answer.status === 204 ? [] : (answer.json() as Shown[]))

/** A list's answer when it has everything that was written before: slow read models are behind, or can't be asked, for a while. */
export async function current(vendor: Vendor, path: string): Promise<Answer> {
  let answer = await vendor.get(path)
  const isCurrent = () => answer.status !== 503 && answer.headers['x-consistency'] !== 'pending'
  await until(`${path} with everything`, async () => {
    if (!isCurrent()) answer = await vendor.get(path)
    return isCurrent()
  })
  return answer
}

/** The diamond that was created. */
export const created = async (vendor: Vendor, fields: Readonly<Record<string, unknown>> = {}): Promise<Shown> =>
  shown(expect(201, await vendor.post('/v4/diamond', stone(fields))))

/** Creates so many at once, with skus `{prefix}-0` and on. */
export async function createdMany(vendor: Vendor, count: number, prefix = 'MANY'): Promise<Shown[]> {
  const entries = Array.from({ length: count }, (_, number) => stone({ sku: `${prefix}-${number}` }))
  return list(expect(201, await vendor.post('/v4/diamond/bulk', { entries })))
}

/** Everything the vendor has, as v3 and v4 list it, with totals: equal before and after a request that changes nothing. */
export async function everythingOf(vendor: Vendor): Promise<unknown> {
  const answers = await Promise.all(['v3', 'v4'].map((version) => vendor.get(`/${version}/diamond?limit=1000`)))
  return answers.map(({ status, text, headers }) => ({
    status,
    text: withoutSignatures(text),
    total: headers['x-total-count'],
  }))
}

/** Holds that a request changes nothing of what these vendors have. */
export async function changesNothing(vendors: readonly Vendor[], action: () => Promise<unknown>): Promise<void> {
  const before = await Promise.all(vendors.map(everythingOf))
  await action()
  assert.equal(await Promise.all(vendors.map(everythingOf)), before)
}
