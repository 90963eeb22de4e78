import type { AccountEvent } from '../domain/account/account.ts'
import type { ApiTokenUsed } from '../domain/account/api-token-use.ts'
import type { ClientEvent } from '../domain/client/client.ts'
import type { DiamondEvent } from '../domain/diamond/diamond.ts'
import type { DiamondScored } from '../domain/diamond/scores.ts'
import type { CheckpointSigned, LinkKeySealed, LogKeySealed, PersonKeySealed } from '../domain/installation/keys.ts'
import type { IdsReserved, LogRestored, RetryRequested, StoresJoined } from '../domain/installation/installation.ts'
import type { LoginEvent } from '../domain/account/login.ts'
import type {
  CopyAbandoned,
  ReplayMade,
  CopyBegun,
  CopyDone,
  LogCreated,
  LogFenced,
  LogOpened,
} from '../domain/installation/moving.ts'
import type { RequestAccepted, RequestDone } from '../domain/bulk/bulk.ts'
import type { SecretEvent } from '../domain/secret/secret.ts'
import type { SessionEvent } from '../domain/session/session.ts'
import type { WebhookEvent } from '../domain/webhook/webhook.ts'

/** Every event that this release writes and reads. The compiler holds each against its schema: registry.ts. */
export type KnownEvent =
  | AccountEvent
  | ApiTokenUsed
  | ClientEvent
  | DiamondEvent
  | DiamondScored
  | IdsReserved
  | LinkKeySealed
  | CheckpointSigned
  | LogKeySealed
  | PersonKeySealed
  | LoginEvent
  | CopyAbandoned
  | ReplayMade
  | CopyBegun
  | CopyDone
  | LogCreated
  | LogFenced
  | LogOpened
  | LogRestored
  | StoresJoined
  | RequestAccepted
  | RequestDone
  | RetryRequested
  | SecretEvent
  | SessionEvent
  | WebhookEvent

export type EventType = KnownEvent['type']
export type PayloadOf<Type extends EventType> = Extract<KnownEvent, { readonly type: Type }>['data']
