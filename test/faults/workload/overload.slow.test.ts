import { suite } from 'uvu'
import { FLOODS, overload, toldOverload } from './overload.ts'

const test = suite('a service that is asked for more than it takes')

test('sheds what is too much, serves others meanwhile, and everybody as soon as it is over', async () => {
  for (const line of toldOverload(await overload(FLOODS)).split('\n')) console.log(`NOTE: ${line}`)
})

test.run()
