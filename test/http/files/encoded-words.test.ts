import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeEncodedWords } from '../../../src/http/files/form-uploads.ts'

const test = suite('encoded words in a file name')

const NAMES: readonly (readonly [written: string, name: string])[] = [
  ['=?UTF-8?B?UHLDvGZiZXJpY2h0LnBkZg==?=', 'Prüfbericht.pdf'],
  ['=?utf-8?q?Pr=C3=BCf_bericht.pdf?=', 'Prüf bericht.pdf'],
  ['=?ISO-8859-1?Q?Pr=FCf=5F1.pdf?=', 'Prüf_1.pdf'],
  ['=?UTF-8*de?B?w7w=?=.pdf', 'ü.pdf'],
  ['=?UTF-8?B?6ZK755+z?= =?UTF-8?B?LnBkZg==?=', '钻石.pdf'],
  ['report =?UTF-8?Q?=E2=84=96?= 1.pdf', 'report № 1.pdf'],
  ['=?nobodys-charset?B?w7w=?=.pdf', '=?nobodys-charset?B?w7w=?=.pdf'],
  ['a=?b?=c.pdf', 'a=?b?=c.pdf'],
  ['plain.pdf', 'plain.pdf'],
]

for (const [written, name] of NAMES) test(`are decoded: ${written}`, () => assert.is(decodeEncodedWords(written), name))

test.run()
