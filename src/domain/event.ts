import { z } from 'zod'

export const TIME = z.int().describe('milliseconds since 1970, UTC')

/** A payload as stored, before it is upcast and validated. */
export type StoredPayload = Readonly<Record<string, unknown>>

export type PayloadChange = {
  readonly about: string
  /** Converts a payload of the previous version to this version. */
  readonly upcast: (data: StoredPayload) => StoredPayload
}

/** Declares an event type: its stream, its meaning and the schema of its payload. Types and streams are never renamed. */
export type EventDeclaration<Payload extends z.ZodType<object> = z.ZodType<object>> = {
  /** The stream name; parts in braces are variable: `diamond-{id}`. */
  readonly stream: string
  readonly about: string
  /** The schema of the newest version, which this release writes. */
  readonly payload: Payload
  /** The versions after the first, oldest first. */
  readonly changes?: readonly PayloadChange[]
  /** Members that no command prints: hashes of passwords and tokens, and encrypted keys. They would help an attacker to guess. */
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

/** What a schema's parser returns, deeply read-only; optional members are absent, never undefined. */
export type SchemaOutput<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>

type DeepReadonly<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Element)[]
      ? readonly DeepReadonly<Element>[]
      : { readonly [Name in keyof Value]: DeepReadonly<Exclude<Value[Name], undefined>> }

/** The union of the declared events, or of some of their types. */
export type EventOf<
  Events extends Readonly<Record<string, { readonly payload: z.ZodType<object> }>>,
  Type extends keyof Events = keyof Events,
> = {
  [Each in Type]: { readonly type: Each; readonly data: SchemaOutput<Events[Each]['payload']> }
}[Type]

export const payloadVersionOf = ({ changes = [] }: Pick<EventDeclaration, 'changes'>): number => changes.length + 1
