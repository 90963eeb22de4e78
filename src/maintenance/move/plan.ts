import type { Installation } from '../../wiring/installation.ts'
import { count, counted } from '../../cli/progress-bar.ts'
import type { Place } from '../../cli/places.ts'

/** What a move would take along. */
export type Plan = {
  readonly events: number
  readonly files: number
  readonly secrets: number
  readonly mails: number
  readonly from: string
  readonly to: string
}

/** Counts what is there now; more may come until the source is closed. */
export async function planOf({ store, files, vault }: Installation, from: Place, to: Place): Promise<Plan> {
  const kinds = { entry: 0, receipt: 0, mail: 0 }
  for await (const { kind } of vault.contents()) kinds[kind]++
  return {
    events: await counted(store.readAll('start')),
    files: await counted(files.list()),
    secrets: kinds.entry,
    mails: kinds.mail,
    from: from.shown,
    to: to.shown,
  }
}

/** What will be, for whoever has to say yes to it. */
export function described({ events, files, secrets, mails, from, to }: Plan): string {
  return `This moves an installation, and closes the one that is left for good:
  from  ${from}: ${count(events)} events, ${count(files)} files, ${count(secrets)} secrets, ${count(mails)} mails
  to    ${to}
  1. Log and files are copied and compared while the source is served.
  2. The source is closed: it answers reads only, from then on, and refuses writes with 503.
  3. What came since is copied and compared too, and the vault and waiting mails are copied.
  4. The target takes writes. Serve it then, and stop what serves the source.
Until 4 it can be taken back (--give-up); afterwards only a move back opens the source's data again, in an empty place.`
}
