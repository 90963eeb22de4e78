import { suite } from 'uvu'
import { FLOODS, overload, overloadLines } from './overload.ts'

const test = suite('an overloaded service')

test('rejects excess requests, serves other addresses meanwhile, and all clients when the overload ends', async () => {
  for (const line of overloadLines(await overload(FLOODS)).split('\n')) console.log(`NOTE: ${line}`)
})

test.run()
