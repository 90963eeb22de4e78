import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { pathToRoot } from '../../../src/http/kit/page.ts'

const test = suite('the relative path of the front page')

const ADDRESSES = {
  '/': '',
  '/?a=/b': '',
  '/inventory': '',
  '/inventory/?f[sku][]=a/b#c/d': '../',
  '//inventory': '../',
  '/diamond/7/history': '../../',
  '/diamond/7//': '../../../',
  'https://example.com/diamond/7': '../',
  'http://example.com': '',
}

for (const [target, path] of Object.entries(ADDRESSES))
  test(`goes up a folder for each that a browser sees in ${target}`, () => assert.is(pathToRoot(target), path))

test.run()
