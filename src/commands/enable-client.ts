import { enableClient as decide } from '../domain/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from './handle.ts'
import type { Origin } from './origin.ts'

/** The client gets tokens again; those that ended stay ended. @throws Refusal missing */
export const enableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, decide)
