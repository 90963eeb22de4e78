import type { Persons } from '../ports/persons.ts'
import type { VaultFile } from './vault/vault-file.ts'

/** Rows that are read together. */
const PAGE = 100

/** The rows of persons in the vault's file. What a deletion leaves there goes as the vault shreds it. */
export const personsIn = (file: VaultFile): Persons => ({
  put: ({ account, sealed, at }) => file.change((on) => void on.putPerson.run(account, sealed, at)),
  putBack: ({ account, sealed, at }) => file.change((on) => void on.putPersonBack.run(account, sealed, at)),
  read: async (account) => file.look((on) => on.person.get(account)),
  forget: (accounts) =>
    file.change((on) => {
      for (const account of accounts) on.forgetPerson.run(account)
    }),
  unconfirmed: async (before, limit) => file.look((on) => on.unconfirmedPersons.all(before, limit)),
  confirm: (accounts) =>
    file.change((on) => {
      for (const account of accounts) on.confirmPerson.run(account)
    }),
  async *all() {
    for (let behind = 0; ;) {
      const from = behind
      const page = file.look((on) => on.personsBehind.all(from, PAGE))
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return
      behind = last.account
    }
  },
})
