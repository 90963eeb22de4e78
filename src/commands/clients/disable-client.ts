import { disableClient as decide } from '../../domain/client/client.ts'
import { changeClient } from './clients.ts'
import type { Writing } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'

/** The client gets no tokens any more, and those it got end. @throws Refusal missing */
export const disableClient = (writing: Writing, client: string, origin: Origin) =>
  changeClient(writing, client, origin, decide)
