!> C = A B on matrices that need not fit the device, with a body in Fortran: matmul [DEVICE].
module matmul_body
    use polytile
    use, intrinsic :: iso_c_binding
    implicit none

contains

    !> Adds what a box of threads (i, j, k) contributes. The first box of an element finds zero.
    subroutine multiply(threads, views, user) bind(C)
        type(polytile_domain), intent(in) :: threads
        type(polytile_view), intent(in) :: views(*)
        type(c_ptr), value :: user
        real(c_double), pointer :: A(:, :), B(:, :), C(:, :)
        integer(c_int64_t) :: j, k, lo, hi
        if (c_associated(user)) return
        call polytile_view_get(views(1), A)
        call polytile_view_get(views(2), B)
        call polytile_view_get(views(3), C)
        lo = polytile_first(threads, 1)
        hi = polytile_last(threads, 1)
        do j = polytile_first(threads, 2), polytile_last(threads, 2)
            do k = polytile_first(threads, 3), polytile_last(threads, 3)
                C(lo:hi, j) = C(lo:hi, j) + A(lo:hi, k) * B(k, j)
            end do
        end do
    end subroutine
end module

program matmul_in_pieces
    use matmul_body
    implicit none
    integer, parameter :: n = 150, m = 110, l = 130
    real(c_double), allocatable, target :: A(:, :), B(:, :), C(:, :)
    type(polytile_context) :: ctx
    type(polytile_device) :: device
    type(polytile_kernel) :: gemm
    type(polytile_array) :: arrays(3)
    type(polytile_report) :: report
    character(80) :: text
    integer :: i, j

    text = 'host(memory=128KiB)'
    if (command_argument_count() >= 1) call get_command_argument(1, text)
    A = reshape([((real(mod(3 * i + j, 7), c_double), i = 1, n), j = 1, l)], [n, l])
    B = reshape([((real(mod(i + 5 * j, 9), c_double), i = 1, l), j = 1, m)], [l, m])
    allocate (C(n, m))

    call polytile_context_create(ctx)
    call polytile_device_open(ctx, text, device)
    call polytile_kernel_create(ctx, 'gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]', multiply, gemm)
    call polytile_array_wrap(ctx, 'A', A, arrays(1))
    call polytile_array_wrap(ctx, 'B', B, arrays(2))
    call polytile_array_wrap(ctx, 'C', C, arrays(3))
    call polytile_run(device, gemm, polytile_extents([n, m, l]), arrays)
    report = polytile_device_get_report(device)
    call polytile_context_destroy(ctx)

    print '(i0, a, i0, a)', report%n_kernels, ' kernels within ', report%peak_device_bytes, ' bytes'
    if (any(C /= matmul(A, B))) error stop 'matmul: an element differs'
    print '(a)', 'every element is right'
end program
