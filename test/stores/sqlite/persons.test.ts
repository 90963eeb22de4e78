import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import { personsContract } from '../../contract/persons.ts'

personsContract('persons in SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-persons-'))
  const vault = openSqliteVault(join(folder, 'vault.db'))
  return {
    ...vault.persons,
    async close() {
      await vault.close()
      rmSync(folder, { recursive: true })
    },
  }
})
