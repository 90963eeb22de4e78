import { scryptSync } from 'node:crypto'
import { constants, getPriority } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PassphraseKdf, type PassphraseRequest } from '../../src/credentials/passphrase-kdf.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('passphrase key derivation')

const salt = Buffer.alloc(16, 7)
const cost = { N: 16, r: 1, p: 1 }

async function derivedKeyOf(passphrase: string): Promise<Buffer> {
  const passphrases = new PassphraseKdf()
  try {
    return await passphrases.acquireSlot({ purpose: 'read' }).deriveKey(passphrase, salt, cost)
  } finally {
    await passphrases.close()
  }
}

test('is scrypt (https://www.rfc-editor.org/rfc/rfc7914) of the normalized passphrase', async () => {
  const expected = scryptSync('Ünder', salt, 32, cost)
  assert.equal(await derivedKeyOf('\u00dcnder'), expected)
  assert.equal(await derivedKeyOf('U\u0308nder'), expected)
})

test('runs on a low-priority thread, and the main thread keeps its priority', async () => {
  if (process.platform !== 'linux') return console.log('LEFT OUT: only Linux has a priority for each thread')
  const passphrases = new PassphraseKdf()
  const added = await niceOfThreadsAddedBy(() =>
    passphrases.acquireSlot({ purpose: 'read' }).deriveKey('sesame', salt, cost),
  )
  await passphrases.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
  assert.is(getPriority(), 0)
})

const reads = (account: number, address: string): PassphraseRequest => ({ purpose: 'read', account, address })
const shares = (account: number, address: string): PassphraseRequest => ({ purpose: 'share', account, address })

test('has slots for others when one account or one address has used up its share', () => {
  for (const crowd of [
    (nth: number) => shares(1, `192.0.2.${nth}`),
    (nth: number) => reads(nth, '192.0.2.1'),
    (nth: number) => shares(nth, `2001:db8::${nth}`),
  ]) {
    const passphrases = new PassphraseKdf()
    assert.throws(() => {
      for (let nth = 0; nth < 40; nth++) passphrases.acquireSlot(crowd(nth))
    }, /Too many passphrases/)
    for (let nth = 0; nth < 5; nth++) passphrases.acquireSlot(reads(99, '198.51.100.7'))
  }
})

test('serves readers before sharers, and requesters with few requests before those with many', async () => {
  const passphrases = new PassphraseKdf()
  const done: string[] = []
  const derive = async (name: string, request: PassphraseRequest) => {
    await passphrases.acquireSlot(request).deriveKey('sesame', salt, cost)
    done.push(name)
  }
  const crowd = Array.from({ length: 10 }, () => derive('crowd', shares(1, '192.0.2.1')))
  await Promise.all([...crowd, derive('share', shares(2, '192.0.2.2')), derive('read', reads(3, '192.0.2.3'))])
  await passphrases.close()
  assert.equal(done.slice(0, 3), ['crowd', 'read', 'share'])
})

test.run()
