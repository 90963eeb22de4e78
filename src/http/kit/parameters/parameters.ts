import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Refusal } from '../../../domain/refusal.ts'
import type { Asked, Body } from '../endpoint.ts'
import type { Rules } from './rules.ts'
import { sentInBody, sentInQuery } from './sent.ts'

/** Types of a body that is read for parameters; one without a type is a form. */
const MEDIA = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json', ''] as const

/** A body that is read with the query. */
export type Parameters<Shape extends z.ZodRawShape> = Body<z.output<z.ZodObject<Shape>>> & {
  readonly schema: z.ZodObject<Shape>
  /** @throws Refusal */
  readonly read: (req: IncomingMessage, asked: Pick<Asked, 'search'>) => Promise<z.output<z.ZodObject<Shape>>>
}

export type ReadingParameters = {
  readonly rules: Rules
  /** Bytes of a body at most. */
  readonly upTo: number
  /** Names whose JSON numbers are the texts that were sent. */
  readonly asWritten?: readonly string[]
}

/**
 * Declares parameters that stand in the query, in a form or in a JSON object, and are read as one. Their schemas say what is
 * wrong in words that go on behind a name, such as `must be text`. Others than these are ignored.
 */
export function parameters<Shape extends z.ZodRawShape>(
  shape: Shape,
  { rules, upTo, asWritten = [] }: ReadingParameters,
): Parameters<Shape> {
  const schema = z.object(shape)
  const fields = Object.entries(shape).map(([name, field]) => [name, isList(field)] as const)
  return {
    media: MEDIA,
    upTo,
    schema,
    async read(req, { search }) {
      const valueOf = rules(sentInQuery(search), await sentInBody(req, upTo, asWritten))
      const given: Record<string, unknown> = {}
      for (const [name, isListed] of fields) given[name] = valueOf(name, isListed)
      return checked(schema, given)
    },
  }
}

/** The first fault alone is told: the original's clients match on one message. */
function checked<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, given: Record<string, unknown>) {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  throw new Refusal('invalid', `${String(issue?.path[0])} ${issue?.message}`)
}

/** Whether a field takes a list, whatever is done with it then. */
function isList(field: z.core.$ZodType): boolean {
  const { def } = field._zod
  if (def.type === 'array') return true
  const within = 'innerType' in def ? def.innerType : 'in' in def ? def.in : undefined
  return within instanceof z.core.$ZodType && isList(within)
}
