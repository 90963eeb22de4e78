import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type AppLogger } from '../../../src/runtime/logger.ts'
import {
  FILE_GARBAGE_COLLECTION_JOBS,
  FileGarbageCollector,
  fileRemovals,
  type FileRemovalTools,
} from '../../../src/reactions/files/file-garbage-collector.ts'
import type { SubscriptionBatch, EventStore, Position, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import type { FileStore, TemporaryFile } from '../../../src/stores/ports/file-store.ts'
import { WakeSignal } from '../../../src/stores/log/wake-signal.ts'
import { startBackgroundServices } from '../../projections/engine/start-background-services.ts'
import { LogRolledBack } from '../../../src/projections/engine/log-rollback.ts'
import type { ReadModel } from '../../../src/stores/ports/read-store.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'
import { until, waitFor } from '../../until.ts'

const test = suite('the file garbage collector')

const shared = 'a'.repeat(64)
const alone = 'b'.repeat(64)

const LOG_CREATED_AT = Date.UTC(2026, 0, 1)

const at = (n: number): Position => ({ commit: BigInt(n), prepare: BigInt(n) })

/** A log of removed certifications, and a read model that folds them when `catchUp` is called. */
class Inventory {
  readonly removed: string[] = []
  /** What the collector warned of. */
  readonly warnings: { readonly fields: unknown; readonly message: string }[] = []
  readonly log = {
    ...createLogger('silent'),
    warn: (fields: unknown, message: string) => void this.warnings.push({ fields, message }),
  } as unknown as AppLogger
  /** The stored files, and those among them that were touched recently. */
  readonly files: string[] = []
  readonly fresh = new Set<string>()
  /** When files were touched; by default when the log was created. */
  readonly touchedAt = new Map<string, number>()
  /** Whether the log lacks something that was seen of it. */
  isRolledBack = false
  /** Files whose removal was interrupted. */
  readonly interrupted: string[] = []
  /** Called once, during the next count of a file's references. */
  duringCount: () => Promise<void> = async () => undefined
  readonly #events: StoredEvent[] = []
  readonly #signal = new WakeSignal()
  readonly #uses = new Map<string, number>()
  #folded = 0
  #processed = 0
  #onProcessed = () => {}

  constructor(uses: Readonly<Record<string, number>>) {
    for (const [digest, count] of Object.entries(uses)) this.#uses.set(digest, count)
  }

  /** Removes one certification with the file; the read model lags. Resolves when the collector has processed the event. */
  async remove(digest: string): Promise<void> {
    const position = at(this.#events.length + 1)
    const data = { id: this.#events.length + 1, digest }
    const event = { id: randomUUID(), type: 'CertificationRemoved', data, metadata: {}, stream: 'diamond-1' }
    this.#events.push({ ...event, revision: BigInt(this.#events.length), position })
    this.#signal.notify()
    const { length } = this.#events
    while (this.#processed < length)
      await waitFor('the collector to process the event', new Promise<void>((done) => (this.#onProcessed = done)))
  }

  /** Lets the read model catch up. */
  catchUp(): void {
    for (const { data } of this.#events.slice(this.#folded)) {
      const digest = String(data['digest'])
      this.#uses.set(digest, (this.#uses.get(digest) ?? 0) - 1)
    }
    this.#folded = this.#events.length
  }

  readonly logCreated = { metadata: { at: new Date(LOG_CREATED_AT).toISOString() } }

  get store(): EventStore {
    const store = {
      head: async () => at(this.#events.length),
      subscribe: () => this.#subscription(),
      identity: async () => 'a log',
      readStream: async () => [this.logCreated],
    }
    return store as unknown as EventStore
  }

  collector(): FileGarbageCollector {
    const model = {
      parkedStreams: async () => new Set<string>(),
      count: async ({ digest }: { digest: string }) => this.#count(digest),
    }
    const files: Partial<FileStore> = {
      list: () => this.#list(),
      temporaryFiles: () => this.#interrupted(),
      removeTemporaryFile: async ({ restoredDigest }: TemporaryFile) => {
        this.interrupted.length = 0
        if (restoredDigest !== undefined) this.files.push(restoredDigest)
        return false
      },
      readTouchToken: async (digest: string) => this.#touchTokenOf(digest),
      remove: async (digest: string, token: string) => {
        if (token !== this.#touchTokenOf(digest)) return 'touched'
        this.removed.push(digest)
        return 'removed'
      },
    }
    return new FileGarbageCollector({
      files: files as FileStore,
      store: this.store,
      referencingModels: [
        {
          model: model as unknown as ReadModel,
          digestFields: ['digest'],
          progress: { waitForPosition: (position) => this.#reached(position as Position) },
        },
      ],
      requireLogUnchanged: async () => {
        if (this.isRolledBack) throw new LogRolledBack('rolled back')
      },
      log: this.log,
    })
  }

  #touches = 0
  readonly #touchTokenOf = (digest: string) => (this.fresh.has(digest) ? String(++this.#touches) : 'untouched')

  async *#interrupted(): AsyncGenerator<TemporaryFile> {
    for (const back of this.interrupted)
      yield { name: `removing-${back}`, touchToken: 'untouched', abandonedAfterMs: 0, restoredDigest: back }
  }

  async *#list() {
    for (const digest of this.files.filter((file) => !this.removed.includes(file)))
      yield { digest, touchToken: this.#touchTokenOf(digest), touchedAt: this.touchedAt.get(digest) ?? LOG_CREATED_AT }
  }

  async #reached({ commit }: Position): Promise<boolean> {
    await new Promise((done) => setImmediate(done))
    return Number(commit) <= this.#folded
  }

  async #count(digest: string): Promise<number> {
    const { duringCount } = this
    this.duringCount = async () => undefined
    const uses = this.#uses.get(digest) ?? 0
    await duringCount()
    return uses
  }

  #subscription() {
    const subscribed = { isOn: true }
    const batches = async function* (this: Inventory): AsyncGenerator<SubscriptionBatch> {
      while (subscribed.isOn) {
        this.#signal.reset()
        const events = this.#events.slice(this.#processed)
        yield { events, position: at(this.#events.length), caughtUp: true }
        this.#processed += events.length
        this.#onProcessed()
        await this.#signal.wait()
      }
    }
    const stop = () => {
      subscribed.isOn = false
      this.#signal.notify()
    }
    return { [Symbol.asyncIterator]: batches.bind(this), stop }
  }
}

/** Advances the clock until the file is removed. */
const waitForRemoval = (inventory: Inventory, digest: string, time: FakeTime): Promise<void> =>
  until(`${digest} to be removed`, async () => {
    await time.advance(100)
    return inventory.removed.includes(digest)
  })

const withCollector = (inventory: Inventory, run: (time: FakeTime) => Promise<void>): Promise<void> =>
  withFakeTime(async (time) => {
    const collector = inventory.collector()
    const { store } = inventory
    const declared = { reactions: [fileRemovals], scheduledJobs: FILE_GARBAGE_COLLECTION_JOBS }
    const stop = await startBackgroundServices<FileRemovalTools>(
      declared,
      (wakes) => ({ collector, store, ...wakes }),
      { store },
    )
    try {
      await run(time)
    } finally {
      await stop()
    }
  })

/** Removes one certification with the file during the next count. @returns a function that advances the clock until then */
function removeDuringCount(inventory: Inventory, digest: string, time: FakeTime): () => Promise<void> {
  let isRemoved = false
  inventory.duringCount = async () => {
    await inventory.remove(digest)
    isRemoved = true
  }
  return () =>
    until('the count', async () => {
      if (!isRemoved) await time.advance(100)
      return isRemoved
    })
}

test('keeps a file that is in use and removes one that is not', async () => {
  const inventory = new Inventory({ [shared]: 2, [alone]: 1 })
  await withCollector(inventory, async (time) => {
    await inventory.remove(shared)
    await inventory.remove(alone)
    inventory.catchUp()
    await waitForRemoval(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('removes a file that a crash left behind once it has not been touched for a while', async () => {
  const inventory = new Inventory({ [shared]: 1 })
  inventory.files.push(shared, alone)
  inventory.fresh.add(shared).add(alone)
  await withCollector(inventory, async (time) => {
    await time.advance(60_000)
    assert.equal(inventory.removed, [])
    inventory.fresh.clear()
    await waitForRemoval(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('finishes a removal that a crash interrupted, even if the scan did not list the file', async () => {
  const inventory = new Inventory({ [shared]: 1 })
  const listed = 'c'.repeat(64)
  inventory.files.push(listed)
  await withCollector(inventory, async (time) => {
    await waitForRemoval(inventory, listed, time)
    inventory.interrupted.push(alone)
    await waitForRemoval(inventory, alone, time)
    assert.equal(inventory.removed, [listed, alone])
  })
})

test('checks a file again if its certification was removed while other files were checked', async () => {
  const inventory = new Inventory({ [shared]: 2, [alone]: 1 })
  await withCollector(inventory, async (time) => {
    const late = removeDuringCount(inventory, alone, time)
    await inventory.remove(shared)
    inventory.catchUp()
    await late()
    await new Promise((done) => setImmediate(done))
    inventory.catchUp()
    await waitForRemoval(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('checks a file again if its last certification was removed during its check', async () => {
  const inventory = new Inventory({ [shared]: 2 })
  await withCollector(inventory, async (time) => {
    const late = removeDuringCount(inventory, shared, time)
    await inventory.remove(shared)
    inventory.catchUp()
    await late()
    inventory.catchUp()
    await waitForRemoval(inventory, shared, time)
  })
})

const digestOf = (number: number) => number.toString(16).padStart(64, '0')

test('keeps files that are older than the log, and says so', async () => {
  const inventory = new Inventory({})
  inventory.files.push(shared, alone)
  inventory.touchedAt.set(shared, LOG_CREATED_AT - 1)
  await withCollector(inventory, async (time) => {
    await waitForRemoval(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
    assert.equal(inventory.warnings[0]?.fields, { found: 1, olderThanLog: 1, left: 0 })
  })
})

test('removes at most a thousand files that a sweep finds at once, and says so', async () => {
  const inventory = new Inventory({})
  inventory.files.push(...Array.from({ length: 1_500 }, (_, number) => digestOf(number)))
  await withCollector(inventory, async (time) => {
    await waitForRemoval(inventory, digestOf(999), time)
    await time.advance(10_000)
    assert.is(inventory.removed.length, 1_000)
    assert.equal(inventory.warnings[0]?.fields, { found: 1_000, olderThanLog: 0, left: 500 })
  })
})

test('removes all files that the log has removed, a thousand in a round', async () => {
  const inventory = new Inventory({})
  const digests = Array.from({ length: 1_500 }, (_, number) => digestOf(number))
  await withCollector(inventory, async (time) => {
    for (const digest of digests) await inventory.remove(digest)
    inventory.catchUp()
    await until('all files to be removed', async () => {
      await time.advance(100)
      return inventory.removed.length === 1_500
    })
  })
})

test('removes nothing while the log lacks what was seen of it', async () => {
  const inventory = new Inventory({ [alone]: 1 })
  inventory.isRolledBack = true
  await withCollector(inventory, async (time) => {
    await inventory.remove(alone)
    inventory.catchUp()
    await time.advance(60_000)
    assert.equal(inventory.removed, [])
    inventory.isRolledBack = false
    await waitForRemoval(inventory, alone, time)
  })
})

test.run()
