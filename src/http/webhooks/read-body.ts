import type { ZodType } from 'zod'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { pointerToken } from '../../representations/json.ts'
import { unknownMembers } from '../../representations/unknown-members.ts'

/** Members of what is shown that nobody writes: a webhook may be sent back as it was read. */
const ONLY_READ: ReadonlySet<string> = new Set(['id', 'created', 'error'])

/** Members that may be left out: JSON has no other undefined. */
type Defined<Value> = { [Name in keyof Value]: Exclude<Value[Name], undefined> }

/**
 * A webhook's members as they were sent.
 * @param isChange members that are only read are passed over
 * @throws Refusal invalid, with all that is wrong
 */
export function readWebhook<Value>(
  schema: ZodType<Value> & { readonly shape: object },
  body: unknown,
  isChange: boolean,
): Defined<Value> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid', 'The body must be a JSON object, such as {"url": "https://example.com/webhook"}')
  }
  const known = Object.keys(schema.shape)
  const sent = Object.entries(body).filter(([name]) => !(isChange && ONLY_READ.has(name)))
  const unknown = sent.map(([name]) => name).filter((name) => !known.includes(name))
  const { data, error } = schema.safeParse(Object.fromEntries(sent.filter(([name]) => known.includes(name))))
  const faults: Fault[] = (error?.issues ?? []).map(({ path, message }) => ({
    pointer: `/${path.map((part) => pointerToken(String(part))).join('/')}`,
    message: `${path.join('.')}: ${message}`,
  }))
  const all = [...unknownMembers(unknown, 'a webhook', known, ''), ...faults]
  if (all.length > 0 || data === undefined) throw new Refusal('invalid', all)
  return data as Defined<Value>
}
