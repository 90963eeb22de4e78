import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../../src/runtime/logger.ts'
import {
  FILE_GARBAGE_COLLECTION_JOBS,
  FileGarbageCollector,
  fileRemovals,
  type FileRemovalTools,
} from '../../../src/reactions/files/file-garbage-collector.ts'
import type { SubscriptionBatch, EventStore, Position, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import type { FileStore, TemporaryFile } from '../../../src/stores/ports/file-store.ts'
import { WakeSignal } from '../../../src/stores/log/wake-signal.ts'
import { working } from '../../projections/engine/working.ts'
import type { ReadModel } from '../../../src/stores/ports/read-store.ts'
import { withFakeTime, type FakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('the file garbage collector')

const shared = 'a'.repeat(64)
const alone = 'b'.repeat(64)

const at = (n: number): Position => ({ commit: BigInt(n), prepare: BigInt(n) })

/** A log of removed certifications, and a read model that folds them when `learn` is called. */
class Inventory {
  readonly removed: string[] = []
  /** The stored files, and those among them that were touched recently. */
  readonly files: string[] = []
  readonly fresh = new Set<string>()
  /** Files whose removal was interrupted. */
  readonly broken: string[] = []
  /** Called once, during the next count of a file's references. */
  meanwhile: () => Promise<void> = async () => undefined
  readonly #events: StoredEvent[] = []
  readonly #news = new WakeSignal()
  readonly #uses = new Map<string, number>()
  #known = 0
  #taken = 0

  constructor(uses: Readonly<Record<string, number>>) {
    for (const [digest, count] of Object.entries(uses)) this.#uses.set(digest, count)
  }

  /** Removes one certification with the file; the read model lags. Resolves when the collector has processed the event. */
  async remove(digest: string): Promise<void> {
    const position = at(this.#events.length + 1)
    const data = { id: this.#events.length + 1, digest }
    const event = { id: randomUUID(), type: 'CertificationRemoved', data, metadata: {}, stream: 'diamond-1' }
    this.#events.push({ ...event, revision: BigInt(this.#events.length), position })
    this.#news.notify()
    while (this.#taken < this.#events.length) await new Promise((done) => setImmediate(done))
  }

  /** Lets the read model catch up. */
  learn(): void {
    for (const { data } of this.#events.slice(this.#known)) {
      const digest = String(data['digest'])
      this.#uses.set(digest, (this.#uses.get(digest) ?? 0) - 1)
    }
    this.#known = this.#events.length
  }

  get store(): EventStore {
    const store = {
      head: async () => at(this.#events.length),
      subscribe: () => this.#subscription(),
      identity: async () => 'a log',
      read: async () => [],
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
      temporaryFiles: () => this.#broken(),
      removeTemporaryFile: async ({ restoredDigest }: TemporaryFile) => {
        this.broken.length = 0
        if (restoredDigest !== undefined) this.files.push(restoredDigest)
        return false
      },
      readTouchToken: async (digest: string) => this.#markOf(digest),
      remove: async (digest: string, mark: string) => {
        if (mark !== this.#markOf(digest)) return 'touched'
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
          progress: { waitForPosition: (position) => this.#reached(position as Position) },
        },
      ],
      log: createLogger('silent'),
    })
  }

  #touches = 0
  readonly #markOf = (digest: string) => (this.fresh.has(digest) ? String(++this.#touches) : 'untouched')

  async *#broken(): AsyncGenerator<TemporaryFile> {
    for (const back of this.broken)
      yield { name: `removing-${back}`, touchToken: 'untouched', abandonedAfterMs: 0, restoredDigest: back }
  }

  async *#list() {
    for (const digest of this.files) yield { digest, touchToken: this.#markOf(digest) }
  }

  async #reached({ commit }: Position): Promise<boolean> {
    await new Promise((done) => setImmediate(done))
    return Number(commit) <= this.#known
  }

  async #count(digest: string): Promise<number> {
    const { meanwhile } = this
    this.meanwhile = async () => undefined
    const uses = this.#uses.get(digest) ?? 0
    await meanwhile()
    return uses
  }

  #subscription() {
    const subscribed = { isOn: true }
    const batches = async function* (this: Inventory): AsyncGenerator<SubscriptionBatch> {
      while (subscribed.isOn) {
        this.#news.reset()
        const events = this.#events.slice(this.#taken)
        yield { events, position: at(this.#events.length), caughtUp: true }
        this.#taken += events.length
        await this.#news.wait()
      }
    }
    const stop = () => {
      subscribed.isOn = false
      this.#news.notify()
    }
    return { [Symbol.asyncIterator]: batches.bind(this), stop }
  }
}

/** Advances the clock until the file is removed. */
const collected = (inventory: Inventory, digest: string, time: FakeTime): Promise<void> =>
  until(`${digest} to be removed`, async () => {
    await time.pass(100)
    return inventory.removed.includes(digest)
  })

const collecting = (inventory: Inventory, run: (time: FakeTime) => Promise<void>): Promise<void> =>
  withFakeTime(async (time) => {
    const collector = inventory.collector()
    const { store } = inventory
    const declared = { reactions: [fileRemovals], scheduledJobs: FILE_GARBAGE_COLLECTION_JOBS }
    const stop = await working<FileRemovalTools>(declared, (wakes) => ({ collector, store, ...wakes }), { store })
    try {
      await run(time)
    } finally {
      await stop()
    }
  })

/** Removes one certification with the file during the next count. @returns a function that advances the clock until then */
function removedMeanwhile(inventory: Inventory, digest: string, time: FakeTime): () => Promise<void> {
  let isRemoved = false
  inventory.meanwhile = async () => {
    await inventory.remove(digest)
    isRemoved = true
  }
  return () =>
    until('the count', async () => {
      if (!isRemoved) await time.pass(100)
      return isRemoved
    })
}

test('keeps a file that is in use and removes one that is not', async () => {
  const inventory = new Inventory({ [shared]: 2, [alone]: 1 })
  await collecting(inventory, async (time) => {
    await inventory.remove(shared)
    await inventory.remove(alone)
    inventory.learn()
    await collected(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('removes a file that a crash left behind once it has not been touched for a while', async () => {
  const inventory = new Inventory({ [shared]: 1 })
  inventory.files.push(shared, alone)
  inventory.fresh.add(shared).add(alone)
  await collecting(inventory, async (time) => {
    await time.pass(60_000)
    assert.equal(inventory.removed, [])
    inventory.fresh.clear()
    await collected(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('finishes a removal that a crash interrupted, even if the scan did not list the file', async () => {
  const inventory = new Inventory({ [shared]: 1 })
  const met = 'c'.repeat(64)
  inventory.files.push(met)
  await collecting(inventory, async (time) => {
    await collected(inventory, met, time)
    inventory.broken.push(alone)
    await collected(inventory, alone, time)
    assert.equal(inventory.removed, [met, alone])
  })
})

test('checks a file again if its certification was removed while other files were checked', async () => {
  const inventory = new Inventory({ [shared]: 2, [alone]: 1 })
  await collecting(inventory, async (time) => {
    const late = removedMeanwhile(inventory, alone, time)
    await inventory.remove(shared)
    inventory.learn()
    await late()
    await new Promise((done) => setImmediate(done))
    inventory.learn()
    await collected(inventory, alone, time)
    assert.equal(inventory.removed, [alone])
  })
})

test('checks a file again if its last certification was removed during its check', async () => {
  const inventory = new Inventory({ [shared]: 2 })
  await collecting(inventory, async (time) => {
    const late = removedMeanwhile(inventory, shared, time)
    await inventory.remove(shared)
    inventory.learn()
    await late()
    inventory.learn()
    await collected(inventory, shared, time)
  })
})

test.run()
