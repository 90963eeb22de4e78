import type { Context } from 'koa'
import { z } from 'zod'
import { Refusal } from '../../../domain/refusal.ts'
import { kindOf } from '../../../representations/json.ts'
import type { Asked, Body } from '../endpoint.ts'
import { isList } from './is-list.ts'
import { sentReader, type ReadingSent, type Sent } from './sent.ts'

/** Types of a body that is read for parameters; one without a type is a form. */
const MEDIA = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json', ''] as const

/** A body that is read with the query. */
export type Parameters<Shape extends z.ZodRawShape> = Body<z.output<z.ZodObject<Shape>>> & {
  readonly schema: z.ZodObject<Shape>
  /** @throws Refusal */
  readonly read: (ctx: Context, asked: Pick<Asked, 'search'>) => Promise<z.output<z.ZodObject<Shape>>>
}

/** Of `once`, what has no value counts as absent (RFC 6749, 3.2). */
export type ReadingParameters = Pick<ReadingSent, 'upTo' | 'rules'> & Partial<Pick<ReadingSent, 'asWritten'>>

/**
 * Declares parameters that stand in the query, in a form or in a JSON object, and are read as one; what the body has counts.
 * Their schemas say what is wrong in words that go on behind a name, such as `must be text`. Others than these are ignored.
 */
export function parameters<Shape extends z.ZodRawShape>(
  shape: Shape,
  { rules, upTo, asWritten = [] }: ReadingParameters,
): Parameters<Shape> {
  const schema = z.object(shape)
  const lists = Object.keys(shape).filter((name) => isList(shape[name] as z.core.$ZodType))
  const read = sentReader({ upTo, rules, asWritten })
  return {
    media: MEDIA,
    upTo,
    schema,
    async read(ctx, { search }) {
      const { query, body } = await read(ctx, search)
      if (rules === 'once') return checked(schema, { ...onceEach(query), ...onceEach(body) })
      const given: Record<string, unknown> = { ...query, ...body }
      for (const name of lists) if (given[name] !== undefined) given[name] = [given[name]].flat()
      return checked(
        schema,
        without(given, (value) => value === null),
      )
    },
  }
}

const without = (given: Sent, isNone: (value: unknown) => boolean): Sent =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => !isNone(value)))

/** @throws Refusal malformed */
function onceEach(sent: Sent): Sent {
  for (const [name, value] of Object.entries(sent)) {
    if (typeof value === 'string' || value === null) continue
    const shown = name.slice(0, 40)
    if (Array.isArray(value)) throw new Refusal('malformed', `The parameter ${shown} stands twice`)
    throw new Refusal('malformed', `${shown} must be a text, got ${kindOf(value)}`)
  }
  return without(sent, (value) => value === '' || value === null)
}

/** The first fault alone is told: the original's clients match on one message. */
function checked<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, given: Record<string, unknown>) {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  throw new Refusal('invalid', `${String(issue?.path[0])} ${issue?.message}`)
}
