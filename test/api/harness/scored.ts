import * as assert from 'uvu/assert'
import type { Vendor } from './account.ts'
import { expect, type Answer } from './request.ts'

/** Milliseconds within which stones of the shipped table must be scored, and ones that are traced, on a busy machine. */
const DEADLINE = 60_000

/** Waits until a diamond has been changed and scored so often. @param etag such as `"0.1"` */
export async function untilEtag(vendor: Vendor, id: number, etag: string): Promise<Answer> {
  const ends = Date.now() + DEADLINE
  for (;;) {
    const answer = expect(200, await vendor.get(`/v4/diamond/${id}`))
    if (answer.headers.etag === etag) return answer
    assert.ok(Date.now() < ends, `its ETag is ${answer.headers.etag}, not ${etag}`)
    await new Promise<void>((done) => setTimeout(done, 20))
  }
}
