import type { Build } from '../../stores/ports/read-store.ts'
import type { Differences } from './differences.ts'
import type { FreshModel } from './fresh-model.ts'
import { RESTORE } from './stream-rules.ts'

type Telling = {
  readonly live: Build
  readonly fresh: FreshModel
  readonly faulty: ReadonlySet<string>
  readonly found: Differences
}

/**
 * Tells, once a stream, what a model could not fold: the live one when it came to it, or this release now.
 * @returns the streams
 */
export async function tellSetAside({ live, fresh, faulty, found }: Telling): Promise<ReadonlySet<string>> {
  const { name } = fresh.projection.declaration
  const aside = new Set<string>()
  for (const { stream, revision, type, reason } of await live.deadLetters()) {
    if (aside.has(stream)) continue
    aside.add(stream)
    const what = `${type} could not be folded into ${name}, and its stream is set aside: ${reason}`
    found.add({ where: `${stream}@${revision}`, what, do: `npx adamant dead-letters retry ${name} ${stream}` })
  }
  for (const { stream, revision, type, reason } of await fresh.build.deadLetters()) {
    if (aside.has(stream)) continue
    aside.add(stream)
    // What is wrong with the event itself was told of it.
    if (faulty.has(stream)) continue
    found.add({ where: `${stream}@${revision}`, what: `${type} can't be folded into ${name}: ${reason}`, do: RESTORE })
  }
  return aside
}
