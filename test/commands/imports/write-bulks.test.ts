import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createCommandContext, type CommandContext } from '../../../src/commands/core/command-context.ts'
import { handle } from '../../../src/commands/core/handle.ts'
import { readStock } from '../../../src/commands/imports/stock.ts'
import { writeBulks } from '../../../src/commands/imports/write-bulks.ts'
import { diamondFold, diamondStream, remove } from '../../../src/domain/diamond/diamond.ts'
import type { UsableLine } from '../../../src/trade-files/findings.ts'
import { planCreations, planDeletions, planUpdates, type PlannedBulks } from '../../../src/trade-files/plan.ts'
import { fixedClock } from '../../fixed-clock.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { unexpected } from './unexpected.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'

const test = suite<{ context: CommandContext }>('a bulk of an import')

test.before.each((given) => {
  given.context = createCommandContext(temporaryLog(), fixedClock)
})
test.after.each(({ context }) => context.store.close())

const principal = { owner: 1, origin: { actor: 'account-1', via: 'http', correlation: 'run' } } as const

async function* linesOf(...sets: readonly UsableLine['change']['set'][]): AsyncGenerator<UsableLine> {
  for (const [index, set] of sets.entries()) yield { line: index + 2, change: { set, removed: [] } }
}

const complete = (sku: string, price: number) => ({ sku, cutShape: 2, carat: 1, price })

/** For bulks without PDFs. */
const NO_REPORT_FILES = { files: {} as FileStore, folder: '' }

const write = (context: CommandContext, id: string, bulks: PlannedBulks) =>
  writeBulks({ context, principal, id, reportFiles: NO_REPORT_FILES, completedBulks: 0 }, bulks)

const stockOf = ({ store }: CommandContext) => readStock(store, principal.owner, unexpected)

const removeStone = (context: CommandContext, id: number) =>
  handle(context, { stream: diamondStream(id), origin: principal.origin }, diamondFold, (state) => remove(state, id, 1))

test('creates a stone again that was deleted after the plan, if the line has all that it needs', async ({
  context,
}) => {
  await write(context, 'create', planCreations(linesOf(complete('A', 1), complete('B', 1), complete('C', 1))))
  const stock = await stockOf(context)
  const plan = planUpdates(linesOf(complete('A', 2), complete('B', 2), { sku: 'C', price: 2 }), stock)
  for (const sku of ['B', 'C']) await removeStone(context, stock.bySku(sku)[0] ?? 0)
  const { created, changed } = await write(context, 'update', plan)
  assert.equal([created, changed], [1, 1])
  const after = await stockOf(context)
  assert.equal([...after.skus.values()].toSorted(), ['A', 'B'])
  assert.is.not(after.bySku('B')[0], stock.bySku('B')[0])
})

test('deletes the rest if one of its stones was deleted after the plan', async ({ context }) => {
  await write(context, 'create', planCreations(linesOf(complete('A', 1), complete('B', 1))))
  const ids = [...(await stockOf(context)).skus.keys()]
  await removeStone(context, ids[0] ?? 0)
  const { deleted } = await write(context, 'delete', planDeletions(ids))
  assert.equal([deleted, (await stockOf(context)).skus.size], [1, 0])
})

test.run()
