import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  nextAccessRevisions,
  fileLinkRevision,
  pageLinkRevision,
  initialAccessRevisions,
} from '../../../src/domain/diamond/diamond.ts'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'

const test = suite('the access revisions of a diamond')

const fields = (access: 0 | 1 | 2, dataAccess: 0 | 1 | 2) =>
  withDefaults({ sku: 'A', cutShape: 2, carat: 1, access, dataAccess })

test('increase separately with each change of access and of dataAccess', () => {
  assert.equal(nextAccessRevisions(initialAccessRevisions, fields(0, 0), fields(0, 0)), { access: 0, dataAccess: 0 })
  assert.equal(nextAccessRevisions(initialAccessRevisions, fields(0, 0), fields(2, 0)), { access: 1, dataAccess: 0 })
  assert.equal(nextAccessRevisions({ access: 3, dataAccess: 5 }, fields(0, 2), fields(0, 1)), {
    access: 3,
    dataAccess: 6,
  })
  assert.equal(nextAccessRevisions({ access: 3, dataAccess: 5 }, fields(1, 2), fields(0, 1)), {
    access: 4,
    dataAccess: 6,
  })
})

test('bind links to the page to access alone, and links to files to both', () => {
  const accessRevisions = { access: 3, dataAccess: 5 }
  assert.is(pageLinkRevision({ accessRevisions }), 3)
  assert.is(fileLinkRevision({ accessRevisions }), 8)
})

test.run()
