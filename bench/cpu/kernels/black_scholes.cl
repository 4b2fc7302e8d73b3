#ifdef EXACT
#pragma OPENCL FP_CONTRACT OFF
#endif

#define RATE 0.02f
#define VOLATILITY 0.3f

float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.3989422804f * exp(-0.5f * d * d) * p;
  return d > 0.0f ? 1.0f - tail : tail;
}

kernel void black_scholes(global const float* restrict price, global const float* restrict strike,
                          global const float* restrict years, global float* restrict call,
                          global float* restrict put) {
  size_t i = get_global_id(0);
  float s = price[i], k = strike[i], t = years[i];
  float spread = VOLATILITY * sqrt(t);
  float d1 = (log(s / k) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) / spread;
  float d2 = d1 - spread;
  float n1 = normal_cdf(d1);
  float n2 = normal_cdf(d2);
  float discounted = k * exp(-RATE * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
