import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMPTY_ROOT, leafHash } from '../../src/evidence/hashes.ts'
import { consistencyProofRanges, inclusionProofRanges, type LeafRange } from '../../src/evidence/subtrees.ts'
import { rangeHash, TILE_WIDTH } from '../../src/evidence/tiles.ts'
import { isConsistent, rootFromInclusionProof } from '../../src/evidence/proof.ts'
import { InMemoryTree } from './in-memory-tree.ts'
import { plainConsistency, plainPath, plainRoot } from './plain-tree.ts'

const test = suite('a Merkle tree of the log')

/** Leaves from the tests of Certificate Transparency's servers, and the tree roots for 0 to 8 of them. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (hex) => Buffer.from(hex, 'hex'),
)
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))
// The reference implementation, because leafHash takes text and these leaves are bytes.
const hashed = (leaf: Buffer) => plainRoot([leaf])
const rootAt = (tree: InMemoryTree, size: number) => rangeHash(tree.tiles, { begin: 0, end: size })
const hashesOf = (tree: InMemoryTree, ranges: readonly LeafRange[]) =>
  Promise.all(ranges.map((range) => rangeHash(tree.tiles, range)))

async function treeOf(leaves: readonly Buffer[], batch = leaves.length): Promise<InMemoryTree> {
  const tree = new InMemoryTree()
  for (let at = 0; at < leaves.length; at += batch) await tree.add(leaves.slice(at, at + batch).map(hashed))
  return tree
}

test('has the roots of Certificate Transparency and of the reference implementation at each size', async () => {
  const tree = await treeOf(LEAVES, 3)
  for (const [size, root] of ROOTS.entries()) {
    assert.is((await rootAt(tree, size)).toString('hex'), root)
    assert.is(plainRoot(LEAVES.slice(0, size)).toString('hex'), root)
  }
  assert.is(EMPTY_ROOT.toString('hex'), ROOTS[0])
})

test('hashes a leaf as UTF-8', () => {
  assert.equal(leafHash('{"a":"é"}'), plainRoot([Buffer.from('{"a":"é"}')]))
})

const numbered = (count: number) => Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`))

test('has the inclusion and consistency proofs of RFC 6962, up to a size of 40', async () => {
  for (let size = 1; size <= 40; size++) {
    const leaves = numbered(size)
    const tree = await treeOf(leaves, 7)
    const root = await rootAt(tree, size)
    for (const [index, leaf] of leaves.entries()) {
      const path = await hashesOf(tree, inclusionProofRanges(index, size))
      assert.equal(hex(path), hex(plainPath(index, leaves)), `leaf ${index} of ${size}`)
      assert.ok(rootFromInclusionProof(hashed(leaf), index, size, path)?.equals(root), `leaf ${index} of ${size}`)
    }
    for (let from = 1; from <= size; from++) {
      const path = await hashesOf(tree, consistencyProofRanges(from, size))
      assert.equal(hex(path), hex(plainConsistency(from, leaves)), `${from} of ${size}`)
      assert.ok(
        isConsistent({ size: from, root: await rootAt(tree, from) }, { size, root }, path),
        `${from} of ${size}`,
      )
    }
  }
})

test('has the same roots for any batch size, across several rows of tiles and at every earlier size', async () => {
  const leaves = numbered(TILE_WIDTH * TILE_WIDTH + 3 * TILE_WIDTH + 17)
  const [one, other] = [await treeOf(leaves, 1_000), await treeOf(leaves, 65_537)]
  for (const size of [
    1,
    TILE_WIDTH - 1,
    TILE_WIDTH,
    TILE_WIDTH + 1,
    2 * TILE_WIDTH,
    5_000,
    TILE_WIDTH * TILE_WIDTH - 1,
    TILE_WIDTH * TILE_WIDTH,
    TILE_WIDTH * TILE_WIDTH + 1,
    leaves.length,
  ]) {
    const plain = plainRoot(leaves.slice(0, size)).toString('hex')
    assert.is((await rootAt(one, size)).toString('hex'), plain, `at ${size}`)
    assert.is((await rootAt(other, size)).toString('hex'), plain, `at ${size}`)
  }
})

test('overwrites tiles that are ahead of its size after an interrupted write', async () => {
  const leaves = numbered(1_000)
  const tree = await treeOf(leaves)
  tree.size = 300
  await tree.add(leaves.slice(300, 310).map(hashed))
  assert.equal(await rootAt(tree, 310), plainRoot(leaves.slice(0, 310)))
})

test('rejects a proof with another leaf, index, size, path or root', async () => {
  const leaves = numbered(37)
  const tree = await treeOf(leaves)
  const root = await rootAt(tree, 37)
  const leaf = hashed(Buffer.from('leaf 20'))
  const path = await hashesOf(tree, inclusionProofRanges(20, 37))
  const passes = (...[hash, index, size, proof]: Parameters<typeof rootFromInclusionProof>) =>
    rootFromInclusionProof(hash, index, size, proof)?.equals(root) === true
  assert.ok(passes(leaf, 20, 37, path))
  assert.not(passes(hashed(Buffer.from('leaf 21')), 20, 37, path))
  for (let index = 0; index < 40; index++) assert.is(passes(leaf, index, 37, path), index === 20, `at ${index}`)
  assert.not(passes(leaf, -1, 37, path))
  assert.not(passes(leaf, 20.5, 37, path))
  assert.not(passes(leaf, 20, 37, path.slice(1)))
  assert.not(passes(leaf, 20, 37, [...path, root]))
  assert.not(passes(leaf, 20, 37, path.toReversed()))
  assert.is(rootFromInclusionProof(leaf, 0, 2, []), undefined)
  assert.is(rootFromInclusionProof(leaf, 36, 37, path.slice(0, 1)), undefined)
  const [at20, consistencyProof] = [await rootAt(tree, 20), await hashesOf(tree, consistencyProofRanges(20, 37))]
  assert.ok(isConsistent({ size: 20, root: at20 }, { size: 37, root }, consistencyProof))
  for (let size = 0; size < 40; size++) {
    if (size !== 20)
      assert.is(isConsistent({ size, root: at20 }, { size: 37, root }, consistencyProof), false, `from ${size}`)
  }
  assert.not(isConsistent({ size: 20, root }, { size: 37, root }, consistencyProof))
  assert.not(isConsistent({ size: 20, root: at20 }, { size: 37, root: at20 }, consistencyProof))
  assert.not(isConsistent({ size: 20, root: at20 }, { size: 37, root }, consistencyProof.slice(1)))
  assert.not(isConsistent({ size: 20, root: at20 }, { size: 37, root }, []))
})

test('names the tile that lacks hashes', async () => {
  const tree = await treeOf(numbered(10))
  await assertRejects(rootAt(tree, 11), /^tile 0 of row 0 of the tree has 0 hashes, but 1 are needed$/)
})

async function assertRejects(work: Promise<unknown>, reason: RegExp): Promise<void> {
  const message = await work.then(
    () => 'nothing was thrown',
    (error: Error) => error.message,
  )
  assert.match(message, reason)
}

test.run()
