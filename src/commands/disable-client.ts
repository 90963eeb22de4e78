import { disableClient as decide } from '../domain/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from './handle.ts'
import type { Origin } from './origin.ts'

/** The client gets no tokens any more, and those it got end. @throws Refusal missing */
export const disableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, decide)
