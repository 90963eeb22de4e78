import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { PersonRow, PersonStore } from '../../src/stores/ports/person-store.ts'

type OpenedPersonStore = PersonStore & { close(): Promise<void> }

const row = (account: number, text = `sealed ${account}`, at = 1000): PersonRow => ({
  account,
  sealed: Buffer.from(text),
  at,
})

/**
 * Runs the rules of the person store port (src/stores/ports/person-store.ts) on an adapter.
 * @param open opens an empty store for one rule, which closes it
 */
export function personsContract(name: string, open: () => Promise<OpenedPersonStore>): void {
  const test = suite<{ persons: OpenedPersonStore }>(name)
  test.before.each(async (given) => {
    given.persons = await open()
  })
  test.after.each(({ persons }) => persons.close())

  test('return the stored bytes of exactly that account', async ({ persons }) => {
    await persons.put(row(7))
    assert.equal(await persons.readPerson(7), row(7).sealed)
    assert.is(await persons.readPerson(8), undefined)
  })

  test('have one row per account, the latest', async ({ persons }) => {
    await persons.put(row(7))
    await persons.put(row(7, 'another', 2000))
    assert.equal(await persons.readPerson(7), Buffer.from('another'))
    assert.equal(await rowsOf(persons), [row(7, 'another', 2000)])
  })

  test('accept the same account from concurrent writes', async ({ persons }) => {
    await Promise.all(Array.from({ length: 5 }, () => persons.put(row(7))))
    assert.equal(await rowsOf(persons), [row(7)])
  })

  test('forget the given accounts and no others, also when repeated', async ({ persons }) => {
    for (const account of [1, 2, 3]) await persons.put(row(account))
    await persons.forget([1, 3])
    await persons.forget([1, 3, 99])
    assert.is(await persons.readPerson(1), undefined)
    assert.equal(await rowsOf(persons), [row(2)])
  })

  test('restore missing accounts from a copy, but not forgotten ones', async ({ persons }) => {
    await persons.put(row(1))
    await persons.put(row(2))
    await persons.forget([2, 3])
    for (const account of [1, 2, 3, 4]) await persons.restore(row(account, 'copied'))
    assert.equal(await rowsOf(persons), [row(1), row(4, 'copied')])
    assert.is(await persons.readPerson(2), undefined)
    await persons.put(row(2, 'again'))
    assert.equal(await persons.readPerson(2), Buffer.from('again'))
  })

  test('list the unconfirmed accounts stored before a time', async ({ persons }) => {
    await persons.put(row(1, 'one', 1000))
    await persons.put(row(2, 'two', 1000))
    await persons.put(row(3, 'three', 2000))
    await persons.confirm([1])
    assert.equal(await persons.unconfirmed(2000, 10), [2])
    assert.is((await persons.unconfirmed(2001, 1)).length, 1)
    await persons.put(row(1, 'again', 1000))
    assert.equal((await persons.unconfirmed(2000, 10)).sort(), [1, 2])
  })

  test('list all accounts in ascending order, including numbers above 2^31', async ({ persons }) => {
    const accounts = [...Array.from({ length: 205 }, (_, index) => index + 1), 2 ** 31 + 5, 2 ** 40]
    for (const account of [...accounts].reverse()) await persons.put(row(account))
    assert.equal(
      await rowsOf(persons),
      accounts.map((account) => row(account)),
    )
  })

  test.run()
}

async function rowsOf(persons: PersonStore): Promise<PersonRow[]> {
  const rows: PersonRow[] = []
  for await (const one of persons.all()) rows.push(one)
  return rows
}
