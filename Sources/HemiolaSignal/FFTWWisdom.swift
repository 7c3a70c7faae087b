/// FFTW's plans for transforms of 512, 1024, 2048, 4096 and 8192 samples, so that it need not search for them at start-up: a
/// search takes a fifth of the processor time from the start of the program to its first record.
///
/// FFTW's wisdom is valid for one version of FFTW and one set of instructions: here 3.3.10 with AVX, as Debian and Ubuntu ship it
/// for x86-64. FFTW compares both and ignores wisdom of another configuration; it then searches. A search that only estimates is
/// deterministic, so the plans and the results are the same to the last bit, as `RealFFTTests` checks.
///
/// To make it anew: plan the five sizes in this order with `fftwf_plan_dft_r2c_1d` and `FFTW_ESTIMATE`, on buffers of
/// `fftwf_malloc`, and print `fftwf_export_wisdom_to_string()`.
let fftwWisdom = """
    (fftw-3.3.10 fftwf_wisdom #x9e7d4dee #xdb14fed1 #x34bf76a4 #xeb6e8fdf
      (fftwf_codelet_hc2cfdftv_2_sse2 0 #x31bff #x31bff #x0 #x3f67885c #x1d118905 #x1b4c027b #x7ecffc87)
      (fftwf_codelet_n1fv_128_avx 0 #x31bff #x31bff #x0 #x00c6be49 #x73700b09 #x6f16d507 #xaa695850)
      (fftwf_codelet_t3fv_32_avx 0 #x31bff #x31bff #x0 #x21c528b9 #x63c201bc #xa3c09b11 #xc2b338e6)
      (fftwf_codelet_t3fv_32_avx 0 #x31bff #x31bff #x0 #xa5af12be #x8ea95383 #xcd10c847 #xe6812dfa)
      (fftwf_codelet_r2cfII_2 2 #x31bff #x31bff #x0 #x66160615 #xeff0bc02 #x776423ce #xe51d3a0d)
      (fftwf_codelet_r2cf_2 2 #x31bff #x31bff #x0 #xfe444ab2 #x3f245c61 #x5e91f2fc #xe780a02d)
      (fftwf_codelet_t3fv_16_avx 0 #x31bff #x31bff #x0 #x2c50659a #x343a7df7 #xd727540d #xacfea1f9)
      (fftwf_codelet_r2cf_2 2 #x31bff #x31bff #x0 #x52d4cebb #x3d61daaa #x6b7f5c22 #x0a343c15)
      (fftwf_codelet_n2fv_32_avx 0 #x31bff #x31bff #x0 #x1bfd5ad9 #xc4c1f496 #x706c43ea #xb35a0b93)
      (fftwf_codelet_r2cfII_2 2 #x31bff #x31bff #x0 #x924edee9 #x1c8ac4be #x6ab55cce #x0a294a09)
      (fftwf_codelet_r2cf_2 2 #x31bff #x31bff #x0 #xc84dba69 #xa695aab6 #x8928d70f #x117bc297)
      (fftwf_codelet_hc2cfdftv_2_sse2 0 #x31bff #x31bff #x0 #x42ead677 #x86451fba #xaefc212f #xfe3ad2af)
      (fftwf_codelet_t3fv_32_avx 0 #x31bff #x31bff #x0 #xc6ca45ce #xf08c5f4a #x61a53ade #xe5e374c8)
      (fftwf_codelet_r2cfII_2 2 #x31bff #x31bff #x0 #xf4706e13 #x6e8bbca0 #x9c704b36 #x8e8181fc)
      (fftwf_codelet_hc2cfdftv_2_sse2 0 #x31bff #x31bff #x0 #x85773c49 #x9a968ccc #xbd37e819 #xac77e6a4)
      (fftwf_codelet_hc2cfdftv_2_sse2 0 #x31bff #x31bff #x0 #x75cb0b70 #xca641787 #xed23b032 #x151f7e6f)
      (fftwf_codelet_n2fv_16_avx 0 #x31bff #x31bff #x0 #xe3387f4e #x05d3ba6b #xd7779b98 #xfb00413e)
      (fftwf_codelet_r2cf_2 2 #x31bff #x31bff #x0 #xeb24eaab #x2ca3ab09 #x7a6d7f81 #xcc67c730)
      (fftwf_codelet_n2fv_64_avx 0 #x31bff #x31bff #x0 #xb8f48902 #x3e3cffd5 #x0902e318 #xff82254a)
      (fftwf_codelet_hc2cfdftv_2_sse2 0 #x31bff #x31bff #x0 #xc447d79d #x3bb36c12 #x2e7c8386 #xc241521c)
      (fftwf_codelet_r2cfII_2 2 #x31bff #x31bff #x0 #x762c26e8 #xabff79e3 #x3a063506 #x18c57a3c)
      (fftwf_codelet_t3fv_16_avx 0 #x31bff #x31bff #x0 #xfeec02f8 #xbbf06357 #xb26e7a2b #xf7b9dcb8)
      (fftwf_codelet_r2cf_2 2 #x31bff #x31bff #x0 #xc4589152 #x2c904887 #x3df0c9d3 #x054d1070)
      (fftwf_codelet_n2fv_32_avx 0 #x31bff #x31bff #x0 #x407181dc #x8a77cb1e #xa88df8c5 #xa32373b5)
      (fftwf_codelet_r2cfII_2 2 #x31bff #x31bff #x0 #x0f9bbec4 #xaf177e66 #xae9fc9cb #x69add438)
    )
    """
