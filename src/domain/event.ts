import { z } from 'zod'

/** A time in an event. */
export const TIME = z.int().describe('milliseconds since 1970, UTC')

/** A payload as it is stored. */
export type StoredPayload = Readonly<Record<string, unknown>>

/** What a version of a payload changed. */
export type PayloadChange = {
  readonly about: string
  /** Lifts a payload of the version before to this one. */
  readonly upcast: (data: StoredPayload) => StoredPayload
}

/** A type of event: what happened, in words and as it is stored. Names and streams never change. */
export type EventDeclaration<Payload extends z.ZodType<object> = z.ZodType<object>> = {
  /** The streams that it is appended to; what stands in braces differs from one to another. */
  readonly stream: string
  readonly about: string
  /** In the newest version, which this release writes. */
  readonly payload: Payload
  /** The versions after the first one, in their order. */
  readonly changes?: readonly PayloadChange[]
  /** Members that no command prints: hashes of passwords and tokens, and sealed keys, which would help an attacker to guess. */
  readonly notShown?: readonly string[]
}

type EventDeclarations = Readonly<Record<string, Omit<EventDeclaration, 'stream'>>>

/** Declares the events of one kind of stream, such as `diamond-{id}`. */
export const declareEvents = <const Events extends EventDeclarations>(
  stream: string,
  events: Events,
): { readonly [Type in keyof Events]: Events[Type] & { readonly stream: string } } =>
  Object.fromEntries(Object.entries(events).map(([type, event]) => [type, { ...event, stream }])) as {
    [Type in keyof Events]: Events[Type] & { readonly stream: string }
  }

/** What a schema lets through, as it is held: nothing of it changes, and what is not there is absent. */
export type SchemaOutput<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>

type DeepReadonly<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Element)[]
      ? readonly DeepReadonly<Element>[]
      : { readonly [Name in keyof Value]: DeepReadonly<Exclude<Value[Name], undefined>> }

/** The events of declarations, or those of one type. */
export type EventOf<
  Events extends Readonly<Record<string, { readonly payload: z.ZodType<object> }>>,
  Type extends keyof Events = keyof Events,
> = {
  [Each in Type]: { readonly type: Each; readonly data: SchemaOutput<Events[Each]['payload']> }
}[Type]

/** The version of its payload that this release writes, counted from 1. */
export const payloadVersionOf = ({ changes = [] }: Pick<EventDeclaration, 'changes'>): number => changes.length + 1
