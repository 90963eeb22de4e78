import { enableClient as decide } from '../../domain/client/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

/** The client gets tokens again; those that ended stay ended. @throws Refusal missing */
export const enableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, decide)
