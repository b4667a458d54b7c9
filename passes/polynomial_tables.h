/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Written by scripts/polynomial_tables.py, which says how the coefficients are
 * found: lowest degree first. Errors are those of the polynomial itself.
 */
#ifndef TGRAPH_PASSES_POLYNOMIAL_TABLES_H
#define TGRAPH_PASSES_POLYNOMIAL_TABLES_H

struct tg_table {
  int count;
  double coefficient[24];
};

/* exp(r), |r| <= ln 2, degree 7, relative; error 2^-25.9 */
static const struct tg_table exp_f32 = {
    8,
    {0x1p+0, 0x1p+0, 0x1.00000cp-1, 0x1.55550ap-3, 0x1.5549b2p-5, 0x1.11298p-7,
     0x1.71d3b8p-10, 0x1.9b14f8p-13}};

/* 2^r, |r| <= 1, degree 7, relative; error 2^-26.1 */
static const struct tg_table exp2_f32 = {
    8,
    {0x1p+0, 0x1.62e432p-1, 0x1.ebfbfap-3, 0x1.c6afap-5, 0x1.3b1f6p-7,
     0x1.5dbce6p-10, 0x1.483b3ep-13, 0x1.f558fcp-17}};

/* (exp(r) - 1 - r) / r^2, |r| <= ln 2 / 2, degree 4, relative to exp(r) - 1;
 * error 2^-26.0 */
static const struct tg_table expm1_f32 = {5,
                                          {0x1.fffffep-2, 0x1.5554a6p-3,
                                           0x1.5556ecp-5, 0x1.1230c6p-7,
                                           0x1.6baf76p-10}};

/* ln 2: 16 bits, and the rest */
static const struct tg_table ln2_f32 = {2, {0x1.62e4p-1, 0x1.7f7d1cp-20}};

/* exp(r), |r| <= ln 2, degree 13, relative; error 2^-56.2 */
static const struct tg_table exp_f64 = {
    14,
    {0x1p+0, 0x1p+0, 0x1.ffffffffffff2p-2, 0x1.55555555555c9p-3,
     0x1.5555555556b33p-5, 0x1.1111111106a31p-7, 0x1.6c16c1698c846p-10,
     0x1.a01a01b4e0b57p-13, 0x1.a01a05c5e7d83p-16, 0x1.71de27f78b4f3p-19,
     0x1.27e1a39c51b99p-22, 0x1.ae728e2543879p-26, 0x1.218a373ef0732p-29,
     0x1.5e1f657e2d8d3p-33}};

/* 2^r, |r| <= 1, degree 13, relative; error 2^-56.2 */
static const struct tg_table exp2_f64 = {
    14,
    {0x1p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c57ep-3, 0x1.c6b08d704a17cp-5,
     0x1.3b2ab6fba6498p-7, 0x1.5d87fe78985c4p-10, 0x1.430912f611e07p-13,
     0x1.ffcbfc722aec9p-17, 0x1.62c025d6272dcp-20, 0x1.b52528029bc39p-24,
     0x1.e4c9cb9a1fe36p-28, 0x1.e8da48b3a8467p-32, 0x1.c7dc62f5cac4p-36,
     0x1.7e5245ddf0179p-40}};

/* (exp(r) - 1 - r) / r^2, |r| <= ln 2 / 2, degree 9, relative to exp(r) - 1;
 * error 2^-55.2 */
static const struct tg_table expm1_f64 = {
    10,
    {0x1.0000000000006p-1, 0x1.5555555555548p-3, 0x1.5555555551795p-5,
     0x1.111111111342ep-7, 0x1.6c16c181ca421p-10, 0x1.a01a019d34c79p-13,
     0x1.a0199e9990f1ap-16, 0x1.71de2067e2eb3p-19, 0x1.28aa9e3d8ba4fp-22,
     0x1.af1e7a74c9a2ap-26}};

/* ln 2: 42 bits, and the rest */
static const struct tg_table ln2_f64 = {
    2, {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45}};

/* (log(1 + f) - f) / f^2, sqrt(1/2) <= 1 + f <= sqrt(2), degree 8, relative to
 * log(1 + f); error 2^-27.4 */
static const struct tg_table log_f32 = {
    9,
    {-0x1p-1, 0x1.555554p-2, -0x1.000226p-2, 0x1.99a01cp-3, -0x1.54728cp-3,
     0x1.22d94p-3, -0x1.0d8246p-3, 0x1.055df8p-3, -0x1.38c73ep-4}};

/* (log(1 + f) - 2 s) / s^3 in s^2, s = f / (2 + f), the same interval, degree
 * 6, relative to log(1 + f); error 2^-59.4 */
static const struct tg_table log_f64 = {
    7,
    {0x1.5555555555597p-1, 0x1.999999997e2e7p-2, 0x1.2492494388402p-2,
     0x1.c71c50a9b5d99p-3, 0x1.74668b074bd48p-3, 0x1.3999af14a859cp-3,
     0x1.2f59f8bdc9b46p-3}};

/* log(erfc(x)) / x, 0 <= x <= 3.93, degree 7, relative to erf(x); error 2^-24.2
 */
static const struct tg_table log_erfc_f32 = {
    8,
    {-0x1.20dd76p+0, -0x1.45f26cp-1, -0x1.a53084p-4, 0x1.3d8b68p-6,
     -0x1.478e0ap-12, -0x1.2fa95ep-10, 0x1.66c5aep-12, -0x1.22398p-15}};

/* log(erfc(x)) / x, 0 <= x <= 5.95, degree 22, relative to erf(x); error
 * 2^-52.6 */
static const struct tg_table log_erfc_f64 = {
    23, {-0x1.20dd750429b6dp+0,  -0x1.45f306dc9c94ap-1,  -0x1.a4f4e2a19a7cap-4,
         0x1.3966858abb316p-6,   0x1.b6b6c695bac4fp-13,  -0x1.bca6b58c60019p-10,
         0x1.3567aebc71df4p-11,  -0x1.b34515e66de12p-16, -0x1.0dc0d896e4698p-14,
         0x1.ec9bd8dbcde01p-16,  -0x1.7d3dfdaaa386cp-19, -0x1.d9406e904df1ap-19,
         0x1.42cc81b3c72dcp-19,  -0x1.c43fcdddcf637p-21, 0x1.6ea60e77abda5p-23,
         -0x1.12da5ffd84639p-27, -0x1.04eed4c201af1p-27, 0x1.a1133212dc8eep-29,
         -0x1.63575fe056004p-31, 0x1.881bbd99e5955p-34,  -0x1.1927875938706p-37,
         0x1.dff468a61cba5p-42,  -0x1.73c45f061ffedp-47}};

/* log2(1 + f) / s in s^2, s = f / (2 + f), as for log_f64, degree 4, relative;
 * error 2^-37.7 */
static const struct tg_table power_log2 = {
    5,
    {0x1.71547652bf3ap+1, 0x1.ec709d0b80ecap-1, 0x1.277785ab46bafp-1,
     0x1.a58ab33644979p-2, 0x1.5d1f0479826a7p-2}};

/* 2^r, |r| <= 1/2, degree 6, relative; error 2^-28.9 */
static const struct tg_table power_exp2 = {
    7,
    {0x1p+0, 0x1.62e430b169f12p-1, 0x1.ebfbdc30dfaf1p-3, 0x1.c6aee53518d72p-5,
     0x1.3b2d5220e08f3p-7, 0x1.5f4012964b2f8p-10, 0x1.41fabb77b3f47p-13}};

/* (sin(r) / r - 1) / r^2 in r^2, |r| <= pi / 4, degree 2, relative to sin(r);
 * error 2^-27.8 */
static const struct tg_table sin_f32 = {
    3, {-0x1.555544p-3, 0x1.1106c6p-7, -0x1.991c28p-13}};

/* (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi / 4, degree 2, relative to
 * cos(r); error 2^-32.7 */
static const struct tg_table cos_f32 = {
    3, {0x1.55554ap-5, -0x1.6c0c14p-10, 0x1.99de6ep-16}};

/* pi / 2 in 4 parts of 13 bits, the last of 24 */
static const struct tg_table half_pi_f32 = {
    4, {0x1.921p+0, 0x1.f6ap-13, 0x1.11p-26, 0x1.68c234p-39}};

/* (sin(r) / r - 1) / r^2 in r^2, |r| <= pi / 4, degree 6, relative to sin(r);
 * error 2^-63.2 */
static const struct tg_table sin_f64 = {
    7,
    {-0x1.5555555555555p-3, 0x1.111111111106cp-7, -0x1.a01a019fff4a8p-13,
     0x1.71de3a35606eep-19, -0x1.ae642f17dc746p-26, 0x1.610bcaa25ad09p-33,
     -0x1.a12111b0a026fp-41}};

/* (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi / 4, degree 6, relative to
 * cos(r); error 2^-68.9 */
static const struct tg_table cos_f64 = {
    7,
    {0x1.5555555555555p-5, -0x1.6c16c16c16b34p-10, 0x1.a01a019ffdb6ap-16,
     -0x1.27e4fb5b96d03p-22, 0x1.1eed7185bab1ep-29, -0x1.9376fa5c58291p-37,
     0x1.9f04a579e1b43p-45}};

/* pi / 2 in 3 parts of 33 bits, the last of 53 */
static const struct tg_table half_pi_f64 = {
    3, {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}};

#endif
