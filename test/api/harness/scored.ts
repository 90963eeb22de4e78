import type { Scores } from '../../../src/optics/scores.ts'
import { until } from '../../until.ts'
import type { Vendor } from './account.ts'
import { expect, type ApiResponse } from './request.ts'
import type { Shown } from './stones.ts'

/** Whether a stone has current scores: a change that requires new ones clears the old ones. */
export const isScored = (stone: Shown): boolean => (stone['scores'] as Scores).brilliance !== null

/** Waits until a diamond has this ETag. @param etag such as `"0.1"` */
export async function untilEtag(vendor: Vendor, id: number, etag: string): Promise<ApiResponse> {
  const read = async () => expect(200, await vendor.get(`/v4/diamond/${id}`))
  let response = await read()
  await until(`the ETag ${etag} of diamond ${id}`, async () => {
    response = await read()
    return response.headers.etag === etag
  })
  return response
}
