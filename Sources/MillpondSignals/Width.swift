// Sizes, times and hashes are an `Int`, of which 32 bits would be too few: some literals would not
// compile, and some shifts would be zero.
#if _pointerBitWidth(_32)
  #error("Millpond needs an Int of 64 bits")
#endif
