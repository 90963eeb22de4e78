import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { z } from 'zod'
import type { Differing, Same } from '../../src/events/registry.ts'

const test = suite('a type and a schema')

type Stone = { readonly carat: number; readonly shapes: readonly ('Round' | 'Oval')[]; readonly note?: string | null }
type Checked<Schema extends z.ZodType> = Same<z.output<Schema>, Stone>

/** Written down for the compiler, which refuses what is not so: `npm run check` runs this test. */
const same: Checked<z.ZodType<{ carat: number; shapes: ('Round' | 'Oval')[]; note?: string | null | undefined }>> = true
const differing: readonly [
  lacksAnOptionalMember: Checked<z.ZodType<{ carat: number; shapes: ('Round' | 'Oval')[] }>>,
  lacksAMember: Checked<z.ZodType<{ carat: number; note?: string | null }>>,
  hasOneMore: Checked<z.ZodType<Stone & { readonly more?: number }>>,
  knowsMoreValues: Checked<z.ZodType<{ carat: number; shapes: string[]; note?: string | null }>>,
  knowsFewerValues: Checked<z.ZodType<{ carat: number; shapes: 'Round'[]; note?: string | null }>>,
  wantsWhatMayLack: Checked<z.ZodType<{ carat: number; shapes: ('Round' | 'Oval')[]; note: string | null }>>,
  takesNoNull: Checked<z.ZodType<{ carat: number; shapes: ('Round' | 'Oval')[]; note?: string }>>,
] = [false, false, false, false, false, false, false]
const allEvents: [Differing] extends [never] ? 'the same' : Differing = 'the same'

test('are the same where every member is, and differ by any one of them', () => {
  assert.equal([same, differing.some(Boolean)], [true, false])
})

test('of every event are the same', () => {
  assert.is(allEvents, 'the same')
})

test.run()
