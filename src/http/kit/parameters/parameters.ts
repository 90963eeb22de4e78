import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Refusal } from '../../../domain/refusal.ts'
import type { Rules } from './rules.ts'
import { sentInBody, sentInQuery } from './sent.ts'

/** Parameters that stand in the query, in a form or in a JSON object, read as one. */
export type Parameters<Values> = {
  readonly schema: z.ZodObject
  /** @param query as it came, without its `?`. @throws Refusal */
  readonly read: (req: IncomingMessage, query: string) => Promise<Values>
}

export type ReadingParameters = {
  readonly rules: Rules
  /** Bytes of a body at most. */
  readonly upTo: number
  /** Names whose JSON numbers are the texts that were sent. */
  readonly asWritten?: readonly string[]
}

/**
 * Declares parameters by their schemas, which say what is wrong in words that go on behind a name, such as `must be text`.
 * Others than these are ignored.
 */
export function parameters<Shape extends z.ZodRawShape>(
  shape: Shape,
  { rules, upTo, asWritten = [] }: ReadingParameters,
): Parameters<z.output<z.ZodObject<Shape>>> {
  const schema = z.object(shape)
  const fields = Object.entries(shape).map(([name, field]) => [name, isList(field)] as const)
  return {
    schema,
    async read(req, query) {
      const valueOf = rules(sentInQuery(query), await sentInBody(req, upTo, asWritten))
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
